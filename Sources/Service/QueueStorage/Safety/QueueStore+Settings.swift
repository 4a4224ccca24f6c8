import GRDB

extension QueueStore {
    /// What a service has to remember of itself, by name.
    package struct Setting: Hashable, Sendable {
        package let name: String

        package init(name: String) { self.name = name }

        /// Whether the service starts no jobs: `yes`, or no value.
        package static let drained = Setting(name: "drained")
    }

    package subscript(setting: Setting) -> String? {
        get throws {
            try read { database in
                try database.row("SELECT value FROM settings WHERE name = ?", [setting.name])?.stored("value")
            }
        }
    }

    func put(_ setting: Setting, _ value: String, _ database: Database) throws {
        try database.run(
            "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [StoredText.whole(setting.name, "name"), StoredText.whole(value, "value")])
    }

    /// - Parameter value: Nil removes the setting.
    package func set(_ setting: Setting, to value: String?, audit: AuditEntry? = nil) throws {
        try write { database in
            if let value {
                try put(setting, value, database)
            } else {
                try database.run("DELETE FROM settings WHERE name = ?", [setting.name])
            }
            if let audit { try append([audit], database) }
        }
    }
}
