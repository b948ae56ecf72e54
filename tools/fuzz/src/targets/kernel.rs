//! Files of `/proc` and `/sys`, which containers may replace.

use host::root::Root;

use crate::Target;
use crate::mutate::Form;

const MOUNTS: &[&str] = &[
    " - ",
    "\\040",
    "\\134",
    "\\777",
    "8:1",
    " / ",
    "/srv",
    "\n",
    "shared:1",
    "rw,",
    "size=4k",
    "upperdir=",
    "1 1 0:1 / / rw - a a rw\n",
];
const KERNEL: &[&str] = &[
    "cpu ",
    "(",
    ")",
    ") R ",
    "total=",
    "some ",
    "full ",
    "TCP:",
    " tw ",
    "syscr: ",
    "MemTotal:",
    "nr_dirty ",
    "pgscan_direct ",
    "model name\t: ",
    "throttled_usec ",
    "high ",
    "max ",
    ":",
    "\n",
    "0::/",
    "0A ",
    "00010000",
];
pub(super) fn all() -> Vec<Target> {
    vec![
        Target::new("mountinfo", 600, || Form::Text(MOUNTS), mounts, host::fuzz::mountinfo),
        Target::new("diskstats", 600, || Form::Text(KERNEL), diskstats, host::fuzz::diskstats),
        Target::new(
            "kernel-file",
            800,
            || Form::Text(KERNEL),
            kernel_files,
            host::fuzz::kernel_file,
        ),
    ]
}

fn mounts() -> Vec<Vec<u8>> {
    let own = std::fs::read(Root::real().locate("/proc/self/mountinfo")).unwrap_or_default();
    let made = b"27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n\
        24 27 0:6 / /dev rw shared:2 master:1 - devtmpfs devtmpfs rw\n\
        25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw,size=4k\n\
        42 27 8:3 / /srv/my\\040disk\\134\\012 rw - overlay overlay rw,upperdir=/a\\054b\n";
    vec![made.to_vec(), own]
}

fn diskstats() -> Vec<Vec<u8>> {
    let own = std::fs::read("/proc/diskstats").unwrap_or_default();
    let made = b" 254       0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n\
        253 0 dm-0 1 0 8 1 10 0 7 1 0 1 1\n   8      16 sdb 1 0 8 1 10 0 5 1 0 1 1 9 8 7 6\n";
    vec![made.to_vec(), own]
}

fn kernel_files() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = [
        "42 (a (b) c) S 1 42 42 0 -1 4194560 12 0 3 0 5 6 7 8 20 0 1 0 9 1000 10 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n",
        "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2\n",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n",
        "MemTotal:       8388608 kB\nMemAvailable:   4194304 kB\n",
        "nr_dirty 1\nnr_writeback 2\npgscan_direct 3\npgscan_kswapd 4\nallocstall_dma 5\nallocstall_normal 6\n",
        "processor\t: 0\nmodel name\t: X\nflags\t: fpu hypervisor\n\nprocessor\t: 1\n",
        "sockets: used 9\nTCP: inuse 1 orphan 0 tw 5 alloc 2 mem 1\n",
        "32768\t60999\n",
        "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12345 1\n",
        "0000: 00000002 00000000 00010000 0001 01 12345 /run/a socket\n",
        "nr_periods 1\nthrottled_usec 5\nlow 0\nhigh 1\nmax 2\n",
        "12:memory:/a\n1:name=systemd:/b\n0::/c\n",
        "8:1\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec();
    let own = ["stat", "self/stat", "vmstat", "cpuinfo", "self/cgroup", "diskstats"];
    all.extend(own.iter().filter_map(|name| std::fs::read(format!("/proc/{name}")).ok()));
    all
}
