import Exports

extension ExportedJob {
    /// A job of `/farm/jobs`, with outputs beside it.
    static func make(
        manifest: String = "/farm/jobs/photos.yaml", program: String = "/opt/penumbra/penumbra", shards: Int = 24,
        runFolder: String = "/farm/jobs/out/.penumbra-openjd-photos", longestTask: Double = 2
    ) -> ExportedJob {
        var job = ExportedJob(
            name: "photos", manifest: manifest, program: program, runFolder: runFolder,
            size: Size(shards: shards, cores: 8, memory: 6_826_666_666, longestTask: longestTask))
        job.folders = ["/farm/jobs/photos"]
        job.outputs = ["/farm/jobs/out"]
        return job
    }
}

/// What an export says that cannot be made.
func problem<Form>(_ form: () throws -> Form) -> String? {
    do {
        _ = try form()
        return nil
    } catch {
        return (error as? ExportError)?.message
    }
}
