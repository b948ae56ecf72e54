//! Sleeping until just before the next start, and polling from there.
//!
//! A sleeper wakes late: by some 5 µs when its core is warm, by 20 to 60 µs
//! when it had gone to sleep itself, and by 50 µs more if the system's timer
//! slack applies, as it does to timeouts of poll and epoll. So the alarm is a
//! timerfd, which has no slack and counts in nanoseconds (mio's and epoll's
//! timeouts are whole milliseconds); it is set early by about as much as
//! recent alarms were late; and the rest of the time is spent polling for
//! replies without sleeping. This costs a few percent of a core at the rates
//! of a busy site, instead of the whole core that polling all the time takes.

use crate::Error;
use host::clock::{monotonic_ns as now_ns, timespec};
use rustix::{
    buffer::spare_capacity,
    event::epoll,
    fd::{AsFd, OwnedFd},
    io::Errno,
    time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create,
        timerfd_settime,
    },
};

/// The longest stretch of polling before a start.
const MARGIN_MAX_NS: u64 = 60_000;
/// How fast the margin shrinks when alarms come in time: by 1/32 each.
const MARGIN_SHRINKS: u64 = 32;
/// Marks the alarm among the events.
pub(crate) const ALARM: u64 = u64::MAX;
/// Events taken at once.
const EVENTS: usize = 256;

/// Waits for events and times.
pub(crate) struct Pacer {
    epoll: OwnedFd,
    timer: OwnedFd,
    set_to_ns: u64,
    margin_ns: u64,
    margin_max_ns: u64,
    /// Time spent polling for want of anything to do.
    pub(crate) spin_ns: u64,
    pub(crate) events: Vec<epoll::Event>,
}

impl Pacer {
    pub(crate) fn new() -> Result<Self, Error> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(Error::system("cannot create an epoll instance"))?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)
            .map_err(Error::system("cannot create a timer"))?;
        // Edge-triggered, so that an alarm need not be read to be heard again.
        let interest = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(ALARM), interest)
            .map_err(Error::system("cannot add the timer to epoll"))?;
        Ok(Self {
            epoll,
            timer,
            set_to_ns: 0,
            margin_ns: MARGIN_MAX_NS,
            margin_max_ns: MARGIN_MAX_NS,
            spin_ns: 0,
            events: Vec::with_capacity(EVENTS),
        })
    }

    pub(crate) fn epoll(&self) -> &OwnedFd {
        &self.epoll
    }

    /// Adapts to the mean gap between starts: polling takes at most a quarter.
    pub(crate) fn begin_step(&mut self, mean_gap_ns: u64) {
        self.margin_max_ns = MARGIN_MAX_NS.min(mean_gap_ns / 4);
        self.margin_ns = self.margin_ns.min(self.margin_max_ns);
        self.spin_ns = 0;
    }

    /// Waits until something happens, `start_ns` is near or `other_ns` has
    /// come; 0 for either means that there is work already.
    pub(crate) fn wait(&mut self, now: u64, start_ns: u64, other_ns: u64) -> Result<(), Errno> {
        let near_ns = start_ns.saturating_sub(self.margin_ns);
        let until = near_ns.min(other_ns);
        self.events.clear();
        if until > now {
            return self.sleep(until, until == near_ns);
        }
        self.poll(Some(&timespec(0)))?;
        if self.events.is_empty() && start_ns > now && other_ns > now {
            self.spin_ns += now_ns() - now;
        }
        Ok(())
    }

    fn sleep(&mut self, until: u64, is_start: bool) -> Result<(), Errno> {
        if self.set_to_ns != until {
            let at = Itimerspec { it_interval: timespec(0), it_value: timespec(until) };
            timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &at)?;
            self.set_to_ns = until;
        }
        self.poll(None)?;
        let alarm = self.events.iter().any(|event| event.data.u64() == ALARM);
        if alarm {
            self.set_to_ns = 0;
        }
        if alarm && is_start && self.events.len() == 1 {
            self.learn(now_ns().saturating_sub(until));
        }
        Ok(())
    }

    fn poll(&mut self, timeout: Option<&rustix::time::Timespec>) -> Result<(), Errno> {
        match epoll::wait(self.epoll.as_fd(), spare_capacity(&mut self.events), timeout) {
            // A signal may have asked to stop, so the caller gets to look.
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    /// Keeps the margin near the latest of the recent alarms.
    fn learn(&mut self, late_ns: u64) {
        let shrunk = self.margin_ns - self.margin_ns / MARGIN_SHRINKS;
        self.margin_ns = shrunk.max(late_ns + late_ns / 4).min(self.margin_max_ns);
    }
}
