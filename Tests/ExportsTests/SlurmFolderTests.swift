import Exports
import Foundation
import TestSupport
import Testing

@Suite struct SlurmFolderTests {
    private static let requests = ["--nodes=1", "--ntasks=1", "--cpus-per-task=8", "--partition=batch", "--time=30"]

    private func folder(
        _ job: ExportedJob = .make(runFolder: "/farm/photos-slurm/run"), requests: [String] = requests
    ) throws -> [String: String] {
        let folder = try SlurmFolder(
            job, folder: "/farm/photos-slurm", requests: SlurmFolder.Requests(options: requests, elementsAtOnce: 16))
        return Dictionary(uniqueKeysWithValues: folder.files.map { ($0.name, $0.text) })
    }

    @Test func `preparing is one job`() throws {
        var job = ExportedJob.make(runFolder: "/farm/photos-slurm/run")
        job.configFile = "/etc/penumbra/farm.yaml"
        job.overrides = ["filters[0].gaussian.radius=14"]
        #expect(
            try folder(job)["prepare.sh"] == """
                #!/bin/sh
                #SBATCH --job-name=photos-prepare
                #SBATCH --output=logs/prepare.%j.out
                #SBATCH --open-mode=append
                #SBATCH --requeue
                #SBATCH --nodes=1
                #SBATCH --ntasks=1
                #SBATCH --cpus-per-task=8
                #SBATCH --partition=batch
                #SBATCH --time=30

                # Finds the inputs, reads their headers, decodes pictures that are cut into tiles, and writes the shards.

                # Workers, one on each core that Slurm gives.
                export PENUMBRA_WORKERS="${SLURM_CPUS_PER_TASK:-8}"
                exec /opt/penumbra/penumbra prepare /farm/jobs/photos.yaml --run-dir /farm/photos-slurm/run --shards 24 \
                --config /etc/penumbra/farm.yaml --set 'filters[0].gaussian.radius=14'

                """)
    }

    @Test func `rendering is an array, and finishing one job`() throws {
        let files = try folder()
        #expect(
            files["render.sh"] == """
                #!/bin/sh
                #SBATCH --job-name=photos-render
                #SBATCH --output=logs/render.%A_%a.out
                #SBATCH --open-mode=append
                #SBATCH --requeue
                #SBATCH --array=1-24%16
                #SBATCH --nodes=1
                #SBATCH --ntasks=1
                #SBATCH --cpus-per-task=8
                #SBATCH --partition=batch
                #SBATCH --time=30

                # Does one shard, by worker processes on all cores of the element.

                # Workers, one on each core that Slurm gives.
                export PENUMBRA_WORKERS="${SLURM_CPUS_PER_TASK:-8}"
                exec /opt/penumbra/penumbra shard --run-dir /farm/photos-slurm/run --index "$SLURM_ARRAY_TASK_ID"

                """)
        #expect(
            files["finish.sh"]?.hasSuffix(
                """

                # Checks what the shards have done, does what is missing, joins tiles, verifies and publishes.

                # Workers, one on each core that Slurm gives.
                export PENUMBRA_WORKERS="${SLURM_CPUS_PER_TASK:-8}"
                exec /opt/penumbra/penumbra resume --run-dir /farm/photos-slurm/run --engine local

                """) == true)
    }

    @Test func `options of sbatch are one word each, whatever they hold`() throws {
        let lines = try folder(requests: [#"--constraint=a&b|[c*2]"#, #"--mail-user=it's "me" #1 \x é"#])["finish.sh"]?
            .split(separator: "\n").filter { $0.hasPrefix("#SBATCH") }.suffix(2)
        #expect(
            lines.map(Array.init) == [
                #"#SBATCH --constraint=a&b|[c*2]"#, ##"#SBATCH "--mail-user=it's \"me\" #1 \\x é""##,
            ])
    }

    @Test func `an option of sbatch with a line break is refused`() {
        #expect(
            problem { try folder(requests: ["--mail-user=a\nrm"]) }
                == #"'--mail-user=a\u{a}rm': an option of sbatch cannot hold a line break"#)
    }

    @Test(arguments: ["it's \"so\" $HOME `id` #1", "a\nb", "{{x}} %j * é", "-n"])
    func `scripts hand names on as they are`(name: String) throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "exports-\(UUID().uuidString)/\(name)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place.deletingLastPathComponent()) }
        let program = "\(place.path)/penumbra"
        try writeProgram("#!/bin/sh\nprintf '%s\\0' \"$@\"\n", to: program)
        var job = ExportedJob.make(manifest: "/jobs/\(name).yaml", program: program, runFolder: "/run/\(name)")
        job.overrides = ["output=\(name)"]
        let files = try folder(job)
        #expect(
            try arguments(files["prepare.sh"])
                == [
                    "prepare", "/jobs/\(name).yaml", "--run-dir", "/run/\(name)", "--shards", "24", "--set",
                    "output=\(name)",
                ])
        #expect(try arguments(files["render.sh"]) == ["shard", "--run-dir", "/run/\(name)", "--index", "7"])
        #expect(try arguments(files["finish.sh"]) == ["resume", "--run-dir", "/run/\(name)", "--engine", "local"])
    }

    /// What a script's program was given, in an element of an array.
    private func arguments(_ script: String?) throws -> [String] {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script ?? "", "slurm_script"]
        process.environment = ["SLURM_ARRAY_TASK_ID": "7"]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self).split(separator: "\0", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
    }
}
