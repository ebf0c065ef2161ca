//! Tells people by a command of theirs: the message comes on its standard input (`mail`, `curl`, a script).

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::ports::{Notifier, PortError};

/// How long it may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Runs a command for each message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandNotifier {
    /// The program, as the system finds it.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl Notifier for CommandNotifier {
    fn notify(&mut self, message: &str) -> Result<(), PortError> {
        let failed = |what: &dyn std::fmt::Display| PortError::Transient(format!("`{}`: {what}", self.program));
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| failed(&e))?;
        // Whoever does not read its input, or never ends, holds nothing up.
        if let Some(mut stdin) = child.stdin.take() {
            let message = message.to_owned();
            std::thread::spawn(move || drop(stdin.write_all(message.as_bytes())));
        }
        let deadline = Instant::now() + TIMEOUT;
        let status = loop {
            match child.try_wait().map_err(|e| failed(&e))? {
                Some(status) => break status,
                None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(20)),
                None => {
                    child.kill().and_then(|()| child.wait()).map_err(|e| failed(&e))?;
                    return Err(failed(&format!("it did not end within {} s", TIMEOUT.as_secs())));
                }
            }
        };
        if status.success() { Ok(()) } else { Err(failed(&format!("it ended with {status}"))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_its_input_and_its_failure_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("said");
        let shell = |text: String| CommandNotifier { program: "sh".to_owned(), arguments: vec!["-c".to_owned(), text] };
        assert_eq!(shell(format!("cat > '{}'", file.display())).notify("eu-1 is lost\n"), Ok(()));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "eu-1 is lost\n");
        assert_eq!(shell("exit 0".to_owned()).notify(&"x".repeat(1 << 20)), Ok(()));
        assert!(
            matches!(shell("exit 3".to_owned()).notify("x"), Err(PortError::Transient(text)) if text.contains("sh"))
        );
        let none = CommandNotifier { program: "/no/such/program".to_owned(), arguments: Vec::new() };
        assert!({ none }.notify("x").is_err());
    }
}
