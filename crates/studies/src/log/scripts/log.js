// A writer in Node.js. Run with `node -e`; speaks the workers' protocol, a line
// of JSON at a time, on standard input and output.
'use strict';
const fs = require('fs');
const { once } = require('events');

const clock = () => Number(process.hrtime.bigint());
let heard = '';

function hear() {
    const chunk = Buffer.alloc(65536);
    for (;;) {
        const end = heard.indexOf('\n');
        if (end >= 0) {
            const line = heard.slice(0, end);
            heard = heard.slice(end + 1);
            return JSON.parse(line);
        }
        const read = fs.readSync(0, chunk);
        if (read === 0) return null;
        heard += chunk.toString('latin1', 0, read);
    }
}

function say(what) {
    let line = Buffer.from(JSON.stringify(what) + '\n');
    while (line.length > 0) line = line.subarray(fs.writeSync(1, line));
}

// The strategy as two functions: append a record, end.
async function strategy(work) {
    process.chdir(work.folder);
    const path = `${work.stem}.log`;
    if (work.strategy === 'node-append-file-sync') {
        return [record => fs.appendFileSync(path, record), () => {}];
    }
    const stream = fs.createWriteStream(path, { flags: 'a' });
    await once(stream, 'open');
    let failed = null;
    stream.on('error', error => { failed = error; });
    // Waits for nothing unless the stream asks for it.
    const append = record => {
        if (failed) throw failed;
        return stream.write(record) ? null : once(stream, 'drain');
    };
    const end = () => new Promise((done, fail) => {
        if (failed) return fail(failed);
        stream.on('error', fail);
        stream.end(done);
    });
    return [append, end];
}

// Sleeps, then spins, until the clock shows so much.
function waitUntil(at) {
    const left = at - clock() - 100000;
    if (left > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, left / 1e6);
    while (clock() < at);
}

// Latencies within 0.4%, and how often each came.
function counted(latencies) {
    const counts = new Map();
    for (let ns of latencies) {
        let step = 1;
        while (ns >= 256 * step) step *= 2;
        ns -= ns % step;
        counts.set(ns, (counts.get(ns) || 0) + 1);
    }
    return [...counts];
}

const sum = numbers => numbers.reduce((total, number) => total + number, 0);

async function run(work) {
    const text = fs.readFileSync(work.records_file, 'latin1');
    const records = text.split('\n').slice(0, -1).map(line => line + '\n');
    const [append, end] = await strategy(work);
    const latencies = new Array(records.length).fill(0);
    const services = [];
    say('ready');
    const told = hear();
    if (told === null) process.exit(0);
    waitUntil(told.start);

    const usage = process.cpuUsage();
    const began = clock();
    let last = began;
    for (let index = 0; index < records.length; index++) {
        let real = last;
        if (work.pace_ns > 0) {
            last = began + work.pace_first_ns + index * work.pace_ns;
            waitUntil(last);
            real = clock();
        }
        const waiting = append(records[index]);
        if (waiting) await waiting;
        const now = clock();
        latencies[index] = Math.max(0, Math.round(now - last));
        if (work.pace_ns > 0) services.push(now - real);
        last = now;
    }
    await end();
    const ended = clock();
    const used = process.cpuUsage(usage);

    const figures = {};
    if (services.length > 0) {
        services.sort((a, b) => a - b);
        figures.service_mean_ns = sum(services) / services.length;
        figures.service_p99_ns = services[Math.ceil(0.99 * services.length) - 1];
    }
    return {
        acknowledged: records.length, started_after_ns: began - told.start, ended_after_ns: ended - told.start,
        unit_ns: 1.0, latencies: counted(latencies),
        latency_max: latencies.reduce((a, b) => Math.max(a, b), 0),
        spent: {
            elapsed_ns: services.length > 0 ? sum(latencies) : ended - began,
            user_ns: used.user * 1000, system_ns: used.system * 1000,
            requested_bytes: text.length,
        },
        figures,
    };
}

(async () => {
    for (let told = hear(); told !== null; told = hear()) {
        if (!told.work) continue;
        try {
            say({ done: await run(told.work.assignment.work) });
        } catch (error) {
            say({ failed: `Node: ${error.message}` });
        }
    }
})();
