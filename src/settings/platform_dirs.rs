//! The directories that the platform has for our files. Not here: the settings that name others (`table`).

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

/// The platform's directories for this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlatformDirs {
    /// The configuration file.
    pub config_file: PathBuf,
    /// The logs.
    pub logs: PathBuf,
    /// The embedding model.
    pub model: PathBuf,
    /// Rebuildable files.
    pub cache: PathBuf,
    /// What is kept of past sessions.
    pub sessions: PathBuf,
    /// The home directory.
    pub home: PathBuf,
    /// The data of all programs.
    pub data_of_all: PathBuf,
    /// The configuration of all programs.
    pub config_of_all: PathBuf,
}

impl PlatformDirs {
    /// Returns the platform's directories, or `None` if there is no home directory.
    #[must_use]
    pub fn of_platform() -> Option<Self> {
        let base = etcetera::base_strategy::choose_native_strategy().ok()?;
        let data = base.data_dir().join("agent-knowledge");
        Some(Self {
            config_file: base.config_dir().join("agent-knowledge").join("config.toml"),
            logs: data.join("logs"),
            model: data.join("model"),
            cache: base.cache_dir().join("agent-knowledge"),
            sessions: data.join("sessions"),
            home: base.home_dir().to_owned(),
            data_of_all: base.data_dir(),
            config_of_all: base.config_dir(),
        })
    }

    /// Returns the directory that a setting names where nothing sets it.
    #[must_use]
    pub fn of_setting(&self, key: &str) -> Option<&Path> {
        match key {
            "logs" => Some(&self.logs),
            "model" => Some(&self.model),
            "cache" => Some(&self.cache),
            _ => None,
        }
    }
}
