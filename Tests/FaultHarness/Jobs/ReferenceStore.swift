import Foundation

/// What a job gives when nobody disturbs it.
struct Reference: Sendable {
    /// By path below the folder of outputs.
    let files: [String: Data]
    /// How long the run took.
    let seconds: Double
}

/// A reference that could not be made: then nothing can be tested.
struct ReferenceProblem: Error, CustomStringConvertible {
    let description: String
}

/// Runs jobs undisturbed, each once.
final class ReferenceStore {
    private let programs: Programs
    private let folder: String
    private var known: [String: Reference] = [:]

    /// - Parameter programs: the real ones, even where the harness itself is put to the test.
    init(_ programs: Programs, folder: String) {
        self.programs = programs
        self.folder = folder
    }

    func reference(_ variant: JobVariant, _ generation: JobVariant.Generation) throws -> Reference {
        let key = "\(variant.name)-\(generation)-\(fingerprint("\(variant.pictures)"))"
        if let reference = known[key] { return reference }
        let workspace = try Workspace("\(folder)/\(key)")
        defer { try? FileManager.default.removeItem(atPath: workspace.path) }  // a folder that stays harms nobody
        try workspace.writeInputs(Workspace.inputs(of: variant))
        try workspace.write(variant.manifest(generation, out: workspace.out), to: "job.yaml")
        let begin = Moment.now
        let process = try ChildProcess(
            programs.penumbra, ["run", workspace.manifest, "--workers", "\(variant.workers)"],
            environment: workspace.environment(programs), output: .file("\(workspace.path)/logs/out"),
            errors: .file("\(workspace.path)/logs/err"))
        let ending = process.wait(seconds: 120)
        ProcessTable(home: workspace.path).killAll()
        let expected: Int32 = variant.hasBrokenPicture ? 1 : 0
        guard ending?.code == expected else {
            let words = (try? String(contentsOfFile: "\(workspace.path)/logs/err", encoding: .utf8)) ?? ""
            throw ReferenceProblem(
                description:
                    "\(variant.name): an undisturbed run ended with \(ending.map { "\($0)" } ?? "no end"): \(words)")
        }
        let reference = Reference(files: Folder.outputs(workspace.outputs), seconds: Moment.now - begin)
        try check(reference, variant)
        known[key] = reference
        return reference
    }

    /// An identity chain changes no pixel; every other output is there.
    private func check(_ reference: Reference, _ variant: JobVariant) throws {
        let whole = variant.hasBrokenPicture ? variant.pictures.dropLast() : variant.pictures[...]
        for picture in whole {
            let own = reference.files.filter { $0.key.contains(picture.stem) }
            guard !own.isEmpty else {
                throw ReferenceProblem(description: "\(variant.name): \(picture.stem) has no output")
            }
            guard variant.name == JobVariant.identity.name else { continue }
            let pixels = Data(picture.pixels)
            guard own.values.allSatisfy({ $0.suffix(pixels.count) == pixels }) else {
                throw ReferenceProblem(description: "\(picture.stem): a chain that does nothing has changed pixels")
            }
        }
    }
}
