/// A folder with what submits a job to Slurm, to be read and submitted by hand.
package struct SlurmFolder: Sendable {
    package struct File: Hashable, Sendable {
        package let name: String
        package let text: String
    }

    /// In the order in which they are read.
    package let files: [File]

    /// What is wanted of Slurm.
    package struct Requests: Hashable, Sendable {
        /// Of sbatch, each a word, for all jobs.
        package let options: [String]
        /// Of the array.
        package let elementsAtOnce: Int

        package init(options: [String], elementsAtOnce: Int) {
            self.options = options
            self.elementsAtOnce = elementsAtOnce
        }
    }

    /// - Parameter folder: the absolute one that the files will lie in.
    package init(_ job: ExportedJob, folder: String, requests: Requests) throws(ExportProblem) {
        let scripts = SlurmScripts(job: job, folder: folder, requests: requests)
        files = [
            File(name: "README.md", text: SlurmReadMe(job: job, folder: folder).text),
            File(name: "submit.sh", text: SlurmSubmitScript(job: job, folder: folder).text),
            File(name: "prepare.sh", text: try scripts.prepare()),
            File(name: "render.sh", text: try scripts.render()),
            File(name: "finish.sh", text: try scripts.finish()),
        ]
    }
}
