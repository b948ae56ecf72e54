// A writer in PHP. Run with `php -n -r`; speaks the workers' protocol, a line of
// JSON at a time, on standard input and output.

function hear() {
    $line = fgets(STDIN);
    return $line === false ? null : json_decode($line, true);
}

function say($what) {
    fwrite(STDOUT, json_encode($what) . "\n");
}

/** Turns warnings into exceptions, so that no failed write goes unseen. */
set_error_handler(function ($level, $text) {
    throw new ErrorException($text);
});

function whole($written, $record) {
    if ($written !== strlen($record)) {
        throw new Exception('only ' . (int) $written . ' of ' . strlen($record) . ' bytes were taken');
    }
}

/** The strategy as three closures: append a record, sync, end; and the time in locks. */
function strategy($work, &$lockNs) {
    chdir($work['folder']);
    // PHP opens by an absolute path whatever it is given: this spares it the asking.
    $path = getcwd() . '/' . $work['stem'] . '.log';
    $none = function () {};
    switch ($work['strategy']) {
        case 'php-file-put-contents':
            return [function ($record) use ($path) {
                whole(file_put_contents($path, $record, FILE_APPEND), $record);
            }, $none, $none];
        case 'php-error-log':
            return [function ($record) use ($path) {
                if (!error_log($record, 3, $path)) throw new Exception('error_log failed');
            }, $none, $none];
        case 'php-reopen':
            return [function ($record) use ($path) {
                $file = fopen($path, 'a');
                whole(fwrite($file, $record), $record);
                fclose($file);
            }, function () use ($path) {
                $file = fopen($path, 'a');
                fdatasync($file);
                fclose($file);
            }, $none];
    }
    $file = fopen($path, 'a');
    $sync = function () use ($file) { fdatasync($file); };
    $end = function () use ($file) { fclose($file); };
    if ($work['strategy'] === 'php-held') {
        return [function ($record) use ($file) { whole(fwrite($file, $record), $record); }, $sync, $end];
    }
    if ($work['strategy'] === 'php-flock-nonblocking') stream_set_blocking($file, false);
    return [function ($record) use ($file, &$lockNs) {
        $before = hrtime(true);
        flock($file, LOCK_EX);
        $lockNs += hrtime(true) - $before;
        $written = fwrite($file, $record);
        flock($file, LOCK_UN);
        whole($written, $record);
    }, $sync, $end];
}

/** Sleeps, then spins, until the clock shows so much. */
function waitUntil($at) {
    $left = $at - hrtime(true) - 100000;
    if ($left > 0) usleep(intdiv($left, 1000));
    while (hrtime(true) < $at);
}

/** Latencies within 0.4%, and how often each came. */
function counted($latencies) {
    $counts = [];
    foreach ($latencies as $ns) {
        $step = 1;
        while ($ns >= 256 * $step) $step *= 2;
        $ns -= $ns % $step;
        $counts[$ns] = ($counts[$ns] ?? 0) + 1;
    }
    $pairs = [];
    foreach ($counts as $ns => $times) $pairs[] = [$ns, $times];
    return $pairs;
}

/** A file in memory has no path that PHP would resolve; a pipe needs none. */
function records($path) {
    $pipe = popen('exec cat ' . escapeshellarg($path), 'r');
    $records = [];
    while (($record = fgets($pipe)) !== false) $records[] = $record;
    pclose($pipe);
    return $records;
}

function run($work) {
    $records = records($work['records_file']);
    $count = count($records);
    $lockNs = 0;
    [$append, $sync, $end] = strategy($work, $lockNs);
    $latencies = array_fill(0, $count, 0);
    $services = $work['pace_ns'] > 0 ? array_fill(0, $count, 0) : [];
    $syncCalls = $syncNs = 0;
    $untilSync = $work['sync_records'] ?: PHP_INT_MAX;
    gc_disable();
    say('ready');
    $told = hear();
    if ($told === null) exit(0);
    waitUntil($told['start']);

    $usage = getrusage();
    $began = $last = hrtime(true);
    $nextSync = $work['sync_interval_ns'] > 0 ? $began + $work['sync_first_ns'] : PHP_INT_MAX;
    foreach ($records as $index => $record) {
        if ($services) {
            $intended = (int) ($began + $work['pace_first_ns'] + $index * $work['pace_ns']);
            waitUntil($intended);
            $from = hrtime(true);
            $last = $intended;
        }
        $append($record);
        if (--$untilSync === 0 || $last >= $nextSync) {
            $before = hrtime(true);
            $sync();
            $syncNs += hrtime(true) - $before;
            $syncCalls++;
            $untilSync = $work['sync_records'] ?: PHP_INT_MAX;
            $nextSync = $work['sync_interval_ns'] > 0 ? $last + $work['sync_interval_ns'] : PHP_INT_MAX;
        }
        $now = hrtime(true);
        $latencies[$index] = $now - $last;
        if ($services) $services[$index] = $now - $from;
        $last = $now;
    }
    $end();
    $ended = hrtime(true);
    $used = getrusage();
    $us = fn($name) => ($used["ru_$name.tv_sec"] - $usage["ru_$name.tv_sec"]) * 1000000
        + $used["ru_$name.tv_usec"] - $usage["ru_$name.tv_usec"];

    $figures = ['lock_ns' => $lockNs];
    if ($services) {
        sort($services);
        $figures['service_mean_ns'] = array_sum($services) / $count;
        $figures['service_p99_ns'] = $services[(int) ceil(0.99 * $count) - 1];
    }
    return [
        'acknowledged' => $count, 'started_after_ns' => $began - $told['start'], 'ended_after_ns' => $ended - $told['start'],
        'unit_ns' => 1.0, 'latencies' => counted($latencies), 'latency_max' => max($latencies),
        'spent' => [
            'elapsed_ns' => $services ? array_sum($latencies) : $ended - $began,
            'sync_calls' => $syncCalls, 'sync_ns' => $syncNs,
            'user_ns' => $us('utime') * 1000, 'system_ns' => $us('stime') * 1000,
            'requested_bytes' => array_sum(array_map('strlen', $records)),
        ],
        'figures' => $figures,
    ];
}

while (($told = hear()) !== null) {
    if (!isset($told['work'])) continue;
    try {
        say(['done' => run($told['work']['assignment']['work'])]);
    } catch (Throwable $error) {
        say(['failed' => 'PHP: ' . $error->getMessage()]);
    }
}
