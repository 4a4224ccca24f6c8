/// A folder with what submits a job to Slurm, to be read and submitted by hand.
package struct SlurmFolder: Sendable {
    package struct File: Hashable, Sendable {
        package let name: String
        package let text: String
    }

    /// In the order in which they are read.
    package let files: [File]

    /// What is wanted of Slurm.
    package struct Wishes: Hashable, Sendable {
        /// Options of sbatch, each a word, for all jobs.
        package let requests: [String]
        /// Elements of the array at once.
        package let throttle: Int

        package init(requests: [String], throttle: Int) {
            self.requests = requests
            self.throttle = throttle
        }
    }

    /// - Parameter folder: the absolute one that the files will lie in.
    package init(_ job: ExportedJob, folder: String, wishes: Wishes) throws(ExportProblem) {
        let scripts = SlurmScripts(job: job, folder: folder, wishes: wishes)
        files = [
            File(name: "README.md", text: SlurmReadMe(job: job, folder: folder).text),
            File(name: "submit.sh", text: SlurmSubmitScript(job: job, folder: folder).text),
            File(name: "prepare.sh", text: try scripts.prepare()),
            File(name: "render.sh", text: try scripts.render()),
            File(name: "finish.sh", text: try scripts.finish()),
        ]
    }
}
