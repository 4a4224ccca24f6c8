/// A folder with the scripts that submit a job to Slurm, for users who submit by hand.
package struct SlurmFolder: Sendable {
    package struct File: Hashable, Sendable {
        package let name: String
        package let text: String
    }

    /// In the order in which a person reads them.
    package let files: [File]

    /// Options for Slurm.
    package struct Requests: Hashable, Sendable {
        /// Options of sbatch for all jobs, each as one word.
        package let options: [String]
        /// The number of the array's elements that may run at once.
        package let elementsAtOnce: Int

        package init(options: [String], elementsAtOnce: Int) {
            self.options = options
            self.elementsAtOnce = elementsAtOnce
        }
    }

    /// - Parameter folder: The absolute folder of the files.
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
