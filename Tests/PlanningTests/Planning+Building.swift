import Catalogs
import Foundation
import JobModel
import Planning
import TestSupport

extension FormatDescriptor {
    static func make(_ name: String, _ extensions: [String], canWrite: Bool, isFolder: Bool = false) -> Self {
        FormatDescriptor(
            name: name, extensions: extensions, canRead: !isFolder, canWrite: canWrite, sampleFormats: [.u8],
            holdsAlpha: true, isFolder: isFolder, isLossless: true, largestSide: 1000, options: [])
    }
}

extension Catalog {
    /// Reads JPEG and PNG, writes PNG and Deep Zoom.
    static let small = Catalog(
        versions: [:], filters: [],
        formats: [
            .make("dzi", ["dzi"], canWrite: true, isFolder: true),
            .make("jpeg", ["jpg", "jpeg"], canWrite: false),
            .make("png", ["png"], canWrite: true),
        ])
}

extension OutputTemplate {
    /// `out/{dir}/{stem}.png`
    static let byName = OutputTemplate(
        source: "", pieces: [.literal("out/"), .field(.dir), .literal("/"), .field(.stem), .literal(".png")])
}

extension JobSpec {
    static func make(
        in folder: String, inputs: [String], exclude: [String] = [], output: OutputTemplate = .byName
    ) -> JobSpec {
        JobSpec(
            name: "job", manifestPath: "\(folder)/job.yaml", folder: folder, inputs: inputs, exclude: exclude,
            chain: [], outputs: [JobOutput(template: output)])
    }
}

extension TemporaryFolder {
    /// Writes a file with some bytes, and the folders that it needs.
    func touch(_ name: String) throws { try touch(Array(name.utf8)) }

    /// The same for a name that may not be UTF-8.
    func touch(_ name: [UInt8]) throws {
        let whole = Array(path.utf8) + [UInt8(ascii: "/")] + name
        for end in whole.indices where whole[end] == UInt8(ascii: "/") && end > path.utf8.count {
            mkdir(whole[..<end].map { CChar(bitPattern: $0) } + [0], 0o755)
        }
        guard let file = fopen(whole.map { CChar(bitPattern: $0) } + [0], "w") else {
            throw CocoaError(.fileWriteUnknown)
        }
        fclose(file)
    }

    func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: file(name), withDestinationPath: file(target))
    }
}

extension JobPlan {
    /// The frames' outputs as they are on disk now, checked.
    ///
    /// - Returns: what is wrong with single frames, by their inputs' paths from a folder.
    @discardableResult
    func checkAll(below folder: String = "/") throws -> [PathKey: PlanError] {
        let outputs = frames.flatMap { frame in
            zip(self.outputs(of: frame, measures: nil), frame.formats).map { path, format in
                PlannedOutput(
                    frame: frame, path: path, folder: self.folder(of: format), stamp: FileStamp(of: path))
            }
        }
        let problems = try check(outputs, inputStamps: inputStamps())
        let known = outputs.compactMap { output in
            problems[output.owner].map { (PathKey(PathNames.relative(output.input, to: folder) ?? output.input), $0) }
        }
        return Dictionary(known) { $1 }
    }
}
