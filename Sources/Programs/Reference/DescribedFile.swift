/// A file that Penumbra reads or writes, beside pictures and manifests.
package struct DescribedFile: Encodable, Hashable, Sendable {
    /// STATE stands for the state folder.
    package let path: String
    /// Whole sentences.
    package let sentence: String

    private init(_ path: String, _ sentence: String) {
        self.path = path
        self.sentence = sentence
    }

    package static let all = [
        DescribedFile(
            "~/.config/penumbra/penumbra.yaml",
            "The settings of a user. $XDG_CONFIG_HOME replaces ~/.config."),
        DescribedFile(
            "/etc/penumbra/penumbra.yaml",
            "The settings of a machine. If both files set a key, the user's value counts."),
        DescribedFile(
            "/etc/penumbra/jobs/",
            "The manifests of the units penumbra@NAME.service. The Debian package makes this folder. The unit of a job runs NAME.yaml."
        ),
        DescribedFile(
            "/usr/local/lib/penumbra/plugins/", "Filter plugins that an administrator installed for all users."),
        DescribedFile(
            "~/.cache/penumbra/completion.json",
            "Names that shells complete. Penumbra writes this file again if it is missing."),
        DescribedFile(
            "STATE", "The state folder: --state-dir, the setting 'state_dir', or ~/.local/state/penumbra."),
        DescribedFile(
            "STATE/penumbra.sqlite",
            "The database of all jobs: every output with its picture and its digests, broken pictures, and runs."),
        DescribedFile("STATE/locks/", "An empty file for each job. A run locks the file of its job."),
        DescribedFile("STATE/runs.lock", "An empty file that runs lock for a moment when they begin."),
        DescribedFile(
            "STATE/runs/",
            "A folder for each active run, with its journal and its scratch space. Penumbra keeps the folder of a killed run "
                + "until the next run of its job."),
        DescribedFile("STATE/originals/", "The originals of pictures that 'penumbra blur' replaced."),
        DescribedFile(
            "SERVICE",
            "The folder of the service: --service-dir, or STATE with '-service' behind its name. The package has it at "
                + "/var/lib/penumbra-service. Only the service's user may enter it."),
        DescribedFile(
            "SERVICE/service.sqlite",
            "The database of the service: the queue, its history, schedules, and digests of tokens."),
        DescribedFile("SERVICE/backups/", "Copies of that database. The service makes one each day."),
        DescribedFile(
            "SERVICE/logs/",
            "The messages of each run, in a file with the run's name. The messages of the service itself go to the journal of "
                + "systemd: 'journalctl --unit penumbra'."),
        DescribedFile(
            "SERVICE/control.sock", "Where the service's user and root reach the service without a token."),
        DescribedFile("SERVICE/web.sock", "With --web-socket: where a proxy of the same user reaches the service."),
        DescribedFile(
            "/run/penumbra/web.sock", "The same for other users, if systemd opens it by the unit penumbra-web.socket."),
        DescribedFile(
            "PICTURES/.penumbra-originals/", "The same beside the pictures, with 'penumbra blur --keep beside'."),
        DescribedFile(
            "OUTPUTS/.penumbra-index",
            "The records of the outputs in that folder, as JSON lines. With them Penumbra can restore a lost database. They "
                + "contain whole paths of pictures, so a web server should not serve this file."),
        DescribedFile(
            "OUTPUTS/.penumbra-lock",
            "An empty file. It exists only if the file system cannot lock folders, and while a command works there."),
        DescribedFile(
            "OUTPUTS/….penumbra-…",
            "An output that is being written. The next run removes what a killed run left."),
    ]
}
