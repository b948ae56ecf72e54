//! Clients of places that several machines share: how many take part in which arm, and
//! whether all of them see the same places.

use std::fs::File;
use std::io::{self, Write as _};

use anyhow::{Context as _, bail};
use model::arm::Arm;
use model::place::{PlaceFacts, Target};
use model::plan::{Draft, Plan};
use model::run::Run;
use model::scaling::CLIENTS;
use model::study::StudyDescription;
use places::WorkDir;
use ranks::{Leader, Mark, Sight};
use rustix::fs::{Mode, OFlags, openat};

use crate::exit::UsageError;
use crate::terminal::output;

/// The file by which they know a place.
const MARK: &str = "clients";

/// How many there are, this process among them.
pub(crate) fn count(others: Option<&Leader>) -> usize {
    others.map_or(1, Leader::ranks)
}

/// Whether several clients can do a study together.
pub(crate) fn suits(study: &StudyDescription) -> bool {
    study.param(CLIENTS).is_some()
}

/// Has all clients take part where nothing else was said.
pub(crate) fn fill_in(draft: &mut Draft, clients: usize) -> Result<(), UsageError> {
    for study in &mut draft.studies {
        let name = &study.spec.name;
        let Some(param) = study.spec.param(CLIENTS) else {
            let suited = studies::specs().into_iter().filter(|spec| suits(spec));
            let suited: Vec<&str> = suited.map(|spec| spec.name.as_str()).collect();
            return Err(UsageError(format!(
                "the study {name} measures with one client, and there are {clients}: name others, \
                 as in --study {}",
                suited.join(",")
            )));
        };
        if study.factors.iter().all(|(known, _)| *known != CLIENTS) {
            let all = param.parse(&clients.to_string());
            let all = all.map_err(|why| UsageError(format!("{name}.{CLIENTS}: {why}")))?;
            study.set(&param.name, vec![all]);
        }
    }
    Ok(())
}

/// Refuses arms that need more clients than there are, places that only this process would
/// see, and labels of places that are none.
pub(crate) fn check(
    plan: &Plan,
    arms: &[Arm],
    local: &[String],
    clients: usize,
) -> Result<(), UsageError> {
    let labels: Vec<&str> = plan.places.iter().map(|place| place.label.as_str()).collect();
    if let Some(unknown) = local.iter().find(|label| !labels.contains(&label.as_str())) {
        return Err(UsageError(format!(
            "--local {unknown}: there is no place of that label; there are {}",
            labels.join(", ")
        )));
    }
    if let Some(arm) = arms.iter().find(|arm| arm.clients() > clients as u64) {
        let (study, wanted) = (&arm.study.name, arm.clients());
        let there = if clients == 1 {
            "this is a single process".to_owned()
        } else {
            format!("{clients} were started")
        };
        return Err(UsageError(format!(
            "{study}.{CLIENTS}={wanted} needs {wanted} processes, but {there}: start as many, as \
             in `mpirun -n {wanted} iotoll compare …`, with an iotoll that was built with MPI"
        )));
    }
    let created = plan.places.iter().find(|place| matches!(place.target, Target::Created(_)));
    match created.filter(|_| clients > 1) {
        None => Ok(()),
        Some(place) => Err(UsageError(format!(
            "{}={} would be created for one of {clients} processes alone: name a directory that \
             all of them see",
            place.label, place.target
        ))),
    }
}

/// An error where other ranks do not see what this one makes in the places.
pub(crate) fn check_shared(
    leader: &Leader,
    places: &[(&PlaceFacts, &WorkDir)],
) -> anyhow::Result<()> {
    let marks: Result<Vec<Mark>, _> =
        places.iter().map(|(place, folder)| marked(place, folder)).collect();
    for (rank, sights) in leader.look(&marks?)? {
        for ((place, _), sight) in places.iter().zip(sights) {
            let label = &place.label;
            let why = match sight {
                Sight::Same => continue,
                Sight::Missing(why) => format!("cannot use it ({why})"),
                Sight::Another => "has another directory there".to_owned(),
            };
            bail!(UsageError(format!(
                "{label}={}: rank {rank} on {} {why}. All clients must see the same directory \
                 under the same path: mount it there, leave the place out, or pass --local \
                 {label} for storage that each machine has its own of",
                place.shown(),
                leader.host(rank)
            )));
        }
    }
    Ok(())
}

/// What is mounted at a place, and how.
pub(crate) fn mounted(place: &PlaceFacts) -> String {
    let options = place.mount_options.iter().map(String::as_str);
    [place.filesystem.as_str()].into_iter().chain(options).collect::<Vec<_>>().join(", ")
}

/// Launchers end all ranks when one dies, and name it only afterwards.
pub(crate) fn tell_interrupted(others: Option<&Leader>, run: &Run) {
    if others.is_some() && run.run.interrupted {
        output::note(
            "interrupted by a signal, which mpirun sends to all ranks when one of them dies: what \
             was measured so far follows",
        );
    }
}

/// Makes a file in a place's working folder, for other ranks to look for.
fn marked(place: &PlaceFacts, folder: &WorkDir) -> anyhow::Result<Mark> {
    let content = format!("{:016x}", rand::random::<u64>());
    let make = || -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = File::from(openat(folder.fd(), MARK, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(content.as_bytes())?;
        file.sync_all()
    };
    make().with_context(|| format!("{}: creating a file", place.label))?;
    Ok(Mark { place: place.path.clone(), file: folder.path().join(MARK), content })
}
