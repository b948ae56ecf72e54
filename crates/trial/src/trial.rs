//! A command as it is tried: what comes before the engine measures it, and what it has then.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

use places::WorkDir;
use process::{Ended, Program, Server, StopFlag};
use rustix::fs::{Access, access};
use rustix::io::Errno;

use crate::aside::Aside;
use crate::chosen::Chosen;
use crate::copies::Copies;
use crate::copy::remove;
use crate::error::{At as _, Error};
use crate::filter::syncs_free;
use crate::ground::Ground;
use crate::left::{Ignored, Ran, Reference};
use crate::overlays::overlays;
use crate::serving::Serving;
use crate::survey::Survey;
use crate::variant::Variant;
use crate::view::{Arrangement, StandIn, View};

/// The most of standard output that is compared.
const OUTPUT_MAX: u64 = 64 << 20;
/// What is told of the command calls it so.
pub(crate) const COMMAND: &str = "The command";

/// A command to be tried.
pub struct Trial {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Where it works.
    pub folder: PathBuf,
    /// For the shell, run before each run, and after it.
    pub setup: Option<String>,
    /// For the shell; fails where the run's result is not right.
    pub check: Option<String>,
    /// How it is loaded, where it is a server.
    pub serving: Option<Serving>,
    /// What need not be the same.
    pub ignored: Ignored,
    /// What is copied at the most.
    pub copy_max_bytes: u64,
    /// How long a run may take.
    pub timeout: Duration,
    /// Raised to end it.
    pub stop: StopFlag,
    /// Where copies on the usual storage are.
    pub disk: PathBuf,
    /// Where copies in memory are.
    pub ram: Option<PathBuf>,
    /// Where what runs left is put on the usual storage.
    aside: OnceCell<Aside>,
    survey: Survey,
    /// Who left processes behind when it ended.
    leaving: RefCell<BTreeSet<&'static str>>,
    pub(crate) reference: Option<Rc<RefCell<Reference>>>,
    pub(crate) ground: Option<Rc<RefCell<Ground>>>,
}

impl Trial {
    /// A command in a folder, with the usual bounds. `disk` and `ram` are empty folders.
    pub fn new(command: Vec<OsString>, folder: PathBuf, disk: &Path, stop: &StopFlag) -> Self {
        Self {
            command,
            folder,
            setup: None,
            check: None,
            serving: None,
            ignored: Ignored::default(),
            copy_max_bytes: 1 << 30,
            timeout: Duration::from_secs(3600),
            stop: StopFlag::clone(stop),
            disk: disk.to_owned(),
            ram: None,
            aside: OnceCell::new(),
            survey: Survey::default(),
            leaving: RefCell::default(),
            reference: None,
            ground: None,
        }
    }

    /// The command as it is run.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.command.first().map_or(OsStr::new(""), |word| word));
        command.args(self.command.iter().skip(1));
        command
    }

    /// Runs it once over overlays to see what it changes, and copies that. How long the run took, and
    /// what was in the way of it.
    pub fn survey(&mut self, work: &WorkDir) -> Result<(Duration, Option<String>), Error> {
        let overlays = overlays(work, &self.folder)?;
        let arrangement = Arrangement { overlays: overlays.clone(), ..Arrangement::default() };
        let view = View::open(&arrangement, &self.folder, &self.stop)?;
        self.set_up(&view)?;
        let ran = self.run(&view, false)?;
        drop(view);
        self.survey = Survey::of(&overlays)?;
        overlays.iter().try_for_each(|overlay| overlay.remove(work))?;
        self.take_ground()?;
        Ok(self.compare_with(ran))
    }

    /// Copies what it changes.
    fn take_ground(&mut self) -> Result<(), Error> {
        self.ground = None;
        self.empty(&self.disk)?;
        self.ground = Some(Rc::new(RefCell::new(self.ground(&[], false)?)));
        Ok(())
    }

    /// Takes the folders of these paths for changed as well if the user may write to them, and runs it
    /// once over copies of them. The first run could not change them: an overlay cannot hold what is of
    /// a group that is not mapped (`EOVERFLOW`), and none is over a folder in which something is mounted.
    /// None where nothing is new, or too large.
    pub fn survey_again(
        &mut self,
        refused: &BTreeSet<PathBuf>,
    ) -> Result<Option<(Duration, Option<String>)>, Error> {
        // A compiler asks whether it may write to a folder before it does.
        let folder = |path: &PathBuf| {
            if path.is_dir() { Some(path.clone()) } else { path.parent().map(Path::to_owned) }
        };
        let folders = refused.iter().filter(|path| may_write(path)).filter_map(folder);
        // The root of all cannot be copied.
        let folders = folders.filter(|folder| folder.parent().is_some());
        let known = self.survey.folders.clone();
        self.survey.folders.extend(folders);
        if self.survey.folders == known {
            return Ok(None);
        }
        match self.take_ground() {
            Err(Error::TooLarge { .. }) => {
                self.survey.folders = known;
                return self.take_ground().map(|()| None);
            }
            taken => taken?,
        }
        let (ran, _) = self.run_as_now()?;
        Ok(Some(self.compare_with(ran)))
    }

    /// Makes a run what others are compared with. How long it took, and how it failed.
    fn compare_with(&mut self, ran: Ran) -> (Duration, Option<String>) {
        let failed = (ran.status != 0).then(|| {
            let said = ran.stderr.last().map_or_else(String::new, |line| format!(": {line}"));
            format!("exit status {}{said}", ran.status)
        });
        let took = ran.took;
        self.reference = Some(Rc::new(RefCell::new(Reference::new(ran, self.ignored.clone()))));
        (took, failed)
    }

    /// Whether it was told to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// What it changes.
    pub fn changes(&self) -> &Survey {
        &self.survey
    }

    /// The folders that are copied, and how much that is.
    pub fn copied(&self) -> (Vec<PathBuf>, u64) {
        self.ground.as_ref().map_or_else(Default::default, |ground| {
            let ground = ground.borrow();
            (ground.chosen.folders().to_vec(), ground.chosen.bytes())
        })
    }

    fn ground(&self, whole: &[PathBuf], in_ram: bool) -> Result<Ground, Error> {
        let chosen = Chosen::of(&self.survey, &self.folder, whole, self.copy_max_bytes)?;
        let apart = chosen.only_read(whole, self.copy_max_bytes)?;
        let aside = self.aside.get_or_init(|| Aside::within(&self.disk));
        let disk = Copies::make(&chosen, &self.disk, aside)?;
        let (ram, only_read) = match &self.ram {
            Some(ram) if in_ram => {
                let aside = Aside::nowhere();
                let copies = Copies::make(&chosen, ram, &aside)?;
                (Some(copies), Copies::make(&apart, ram, &aside)?)
            }
            _ => (None, Copies::make(&Chosen::default(), &self.disk, aside)?),
        };
        Ok(Ground { chosen, disk, ram, only_read, stretch: 0, is_dirty: false })
    }

    /// Prepares a command to be recorded as now, writing to a file; `recorded` tells what became of it.
    pub fn to_be_recorded(&self, output: &File) -> Result<(View, Command), Error> {
        let view = self.view(&Variant::AsNow)?;
        self.set_up(&view)?;
        let mut command = self.command();
        command.stdin(std::process::Stdio::null());
        command.stdout(output.try_clone().at("opening", &self.disk)?);
        view.enter(&mut command).at("entering", &self.folder)?;
        Ok((view, command))
    }

    /// Takes in what a recorded run came to, once nobody is left in its view; an error where it ended
    /// otherwise than the first one.
    pub fn recorded(
        &self,
        view: &View,
        status: i32,
        output: Vec<u8>,
    ) -> Result<Result<(), String>, Error> {
        view.inhabitants().end();
        let left = self.take_left()?;
        let ran = match &self.serving {
            Some(_) => Ran { left, ..Ran::of_a_server() },
            None => Ran { status, output, stderr: Vec::new(), took: Duration::ZERO, left },
        };
        Ok(self.settle(ran))
    }

    /// Runs it once as now, and takes that in: how long it took, and opening its view.
    pub fn once_more(&self) -> Result<(Duration, Duration, Result<(), String>), Error> {
        let (ran, opening) = self.run_as_now()?;
        Ok((ran.took, opening, self.settle(ran)))
    }

    fn run_as_now(&self) -> Result<(Ran, Duration), Error> {
        let began = Instant::now();
        let view = self.view(&Variant::AsNow)?;
        let opening = began.elapsed();
        self.set_up(&view)?;
        let mut ran = self.run(&view, false)?;
        if let Some(why) = self.failed_check(&view)? {
            return Err(Error::Shell(format!("{why}, of what the unchanged command made")));
        }
        drop(view);
        ran.left = self.take_left()?;
        Ok((ran, opening))
    }

    /// The first run whose files are known becomes what others are compared with.
    fn settle(&self, ran: Ran) -> Result<(), String> {
        let Some(reference) = &self.reference else { return Ok(()) };
        reference.borrow_mut().take_in(ran)
    }

    fn take_left(&self) -> Result<BTreeMap<PathBuf, crate::left::Left>, Error> {
        match &self.ground {
            Some(ground) => ground.borrow_mut().disk.take_left(),
            None => Ok(BTreeMap::new()),
        }
    }

    /// Copies what is needed for these variants, in memory as well; the folders that cannot be copied
    /// whole are left out, each with why.
    pub fn prepare(&mut self, variants: &mut Vec<Variant>) -> Result<Vec<String>, Error> {
        let mut notes = Vec::new();
        loop {
            let whole: Vec<PathBuf> = variants.iter().filter_map(Variant::folder).collect();
            let in_ram = variants.iter().any(Variant::is_in_ram);
            self.ground = None;
            for folder in [Some(&self.disk), self.ram.as_ref()].into_iter().flatten() {
                self.empty(folder)?;
            }
            match self.ground(&whole, in_ram) {
                Ok(ground) => {
                    variants.retain(|variant| {
                        let lacking = variant.folder().filter(|folder| !ground.has_in_ram(folder));
                        notes.extend(lacking.iter().map(|folder| {
                            let folder: &Path = folder;
                            let large = ground.chosen.too_large(folder, self.copy_max_bytes);
                            let why = large.map(|error| format!(": {error}"));
                            let why = why.as_deref().unwrap_or(", because it could not be copied");
                            format!("{} in ram{why}", folder.display())
                        }));
                        lacking.is_none()
                    });
                    self.ground = Some(Rc::new(RefCell::new(ground)));
                    return Ok(notes);
                }
                Err(Error::TooLarge { path, limit }) => {
                    let is_of = |variant: &Variant| {
                        variant
                            .folder()
                            .is_some_and(|f| path.starts_with(&f) || f.starts_with(&path))
                    };
                    let before = variants.len();
                    variants.retain(|variant| !is_of(variant));
                    let error = Error::TooLarge { path, limit };
                    if variants.len() == before {
                        return Err(error);
                    }
                    notes.push(error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Clears a folder of copies.
    fn empty(&self, folder: &Path) -> Result<(), Error> {
        let entries = fs::read_dir(folder).at("listing", folder)?;
        let paths = entries.map(|entry| Ok(entry.at("listing", folder)?.path()));
        let paths = paths.collect::<Result<Vec<_>, Error>>()?;
        match self.aside.get().filter(|_| folder == self.disk) {
            Some(aside) => aside.put(paths.iter().filter(|path| !aside.is(path))),
            None => paths.iter().try_for_each(|path| remove(path)),
        }
    }

    /// The view of a variant.
    pub(crate) fn view(&self, variant: &Variant) -> Result<View, Error> {
        let stand_ins = match &self.ground {
            Some(ground) => ground.borrow().stand_ins(variant),
            None => Vec::new(),
        };
        let arrangement = Arrangement { stand_ins: in_order(stand_ins), ..Arrangement::default() };
        View::open(&arrangement, &self.folder, &self.stop)
    }

    /// Runs the setup in a view.
    pub(crate) fn set_up(&self, view: &View) -> Result<(), Error> {
        match &self.setup {
            Some(text) => self.shell(view, text, "--setup"),
            None => Ok(()),
        }
    }

    /// Runs the check in a view; why it failed, if so.
    pub(crate) fn failed_check(&self, view: &View) -> Result<Option<String>, Error> {
        let Some(text) = &self.check else { return Ok(None) };
        match self.shell(view, text, "--check") {
            Err(Error::Shell(why)) => Ok(Some(why)),
            checked => checked.map(|()| None),
        }
    }

    fn shell(&self, view: &View, text: &str, flag: &'static str) -> Result<(), Error> {
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(text);
        view.enter(&mut shell).at("entering", &self.folder)?;
        let mut program = Program::start_alone(shell, text, None)?;
        program.wait(self.timeout, &self.stop)?;
        let ended = self.ended(program, flag)?;
        if ended.status == 0 {
            return Ok(());
        }
        let said = ended.stderr.last().map_or_else(String::new, |line| format!(": {line}"));
        Err(Error::Shell(format!("{flag} ended with exit status {}{said}", ended.status)))
    }

    /// The command in a view.
    fn within(&self, view: &View, syncs_are_free: bool) -> Result<(Command, String), Error> {
        let mut command = self.command();
        view.enter(&mut command).at("entering", &self.folder)?;
        if let Some(filter) = syncs_free().filter(|_| syncs_are_free) {
            sys::call_filter::filter_calls(&mut command, filter);
        }
        let shown = match (&self.serving, self.command.as_slice()) {
            (Some(_), [.., script]) => script.to_string_lossy().into_owned(),
            (_, [program, ..]) => program.to_string_lossy().into_owned(),
            _ => String::new(),
        };
        Ok((command, shown))
    }

    /// Starts the command in a view.
    pub(crate) fn start(&self, view: &View, syncs_are_free: bool) -> Result<Program, Error> {
        let (command, shown) = self.within(view, syncs_are_free)?;
        Ok(Program::start_alone(command, &shown, Some(OUTPUT_MAX))?)
    }

    /// How a program ended; what left processes behind is remembered.
    pub(crate) fn ended(&self, program: Program, who: &'static str) -> Result<Ended, Error> {
        let ended = program.finish()?;
        if ended.left_others {
            self.leaving.borrow_mut().insert(who);
        }
        Ok(ended)
    }

    /// Starts it where it is a server, and waits until it is ready.
    pub(crate) fn serve(
        &self,
        serving: &Serving,
        view: &View,
        syncs_are_free: bool,
    ) -> Result<Server, Error> {
        let (command, shown) = self.within(view, syncs_are_free)?;
        serving.start(command, &shown, &self.stop)
    }

    fn run(&self, view: &View, syncs_are_free: bool) -> Result<Ran, Error> {
        if let Some(serving) = &self.serving {
            let began = Instant::now();
            let server = self.serve(serving, view, syncs_are_free)?;
            serving.load(Some(&server), &self.stop)?;
            server.stop()?;
            return Ok(Ran { took: began.elapsed(), ..Ran::of_a_server() });
        }
        let mut program = self.start(view, syncs_are_free)?;
        let took = program.wait(self.timeout, &self.stop)?;
        Ok(Ran { took, ..Ran::of(self.ended(program, COMMAND)?) })
    }

    /// The files that it used, where they are as now, and whether they are copies of ours.
    pub(crate) fn used(&self, files: &BTreeSet<PathBuf>) -> Vec<(PathBuf, bool)> {
        let Some(ground) = &self.ground else { return Vec::new() };
        let ground = ground.borrow();
        let file = |path: &PathBuf| match ground.disk.path_of(path) {
            Some(copy) => (copy, true),
            None => (path.clone(), false),
        };
        files.iter().map(file).collect()
    }

    /// What is copied otherwise than it is, each in a sentence.
    pub fn copied_otherwise(&self) -> Vec<String> {
        self.ground.as_ref().map_or_else(Vec::new, |ground| ground.borrow().unlike())
    }

    /// Who left processes behind, each in a sentence.
    pub fn left_processes(&self) -> Vec<String> {
        let left = |who: &&str| {
            format!("{who} left processes behind, which were ended with it and do not count.")
        };
        self.leaving.borrow().iter().map(left).collect()
    }

    /// What was not compared, each in a sentence.
    pub fn uncompared(&self) -> Vec<String> {
        self.reference.as_ref().map_or_else(Vec::new, |r| r.borrow().uncompared())
    }

    /// The exit status of the command.
    pub fn status(&self) -> i32 {
        self.reference.as_ref().map_or(0, |reference| reference.borrow().status())
    }
}

/// A folder is seen before what is in it, and what cannot be written before what can, at the same path.
fn in_order(mut stand_ins: Vec<StandIn>) -> Vec<StandIn> {
    stand_ins.sort_by_key(|stand_in| (stand_in.at.components().count(), !stand_in.read_only));
    stand_ins
}

/// Whether the user may write to a file, or make it where there is none.
fn may_write(path: &Path) -> bool {
    match access(path, Access::WRITE_OK) {
        Err(Errno::NOENT) => {
            path.parent().is_some_and(|folder| access(folder, Access::WRITE_OK).is_ok())
        }
        known => known.is_ok(),
    }
}
