import Catalogs
package import JobModel
import Planning

/// A folder or a file that a job reads or writes, as far as its manifest names it.
package struct JobPath: Hashable, Sendable {
    package enum Access: Hashable, Sendable {
        case read
        case written
    }

    /// The part of the manifest that names it, in words: `input 'photos/**/*.jpg'`.
    package let origin: String
    /// Absolute, without `.` and `..`. Links in it are not resolved.
    package let path: String
    package let access: Access

    package init(origin: String, path: String, access: Access) {
        self.origin = origin
        self.path = path
        self.access = access
    }
}

/// The fixed folders and files of a job: the parts of its patterns and templates before the first wildcard or field, the
/// pictures of its filters, the colour profiles of its outputs, and its list of outputs.
///
/// Wildcards may lead through links to other places. Only the kernel can stop that, see ``Confinement``.
package struct JobPaths: Hashable, Sendable {
    package let all: [JobPath]

    /// Inspects no file. The manifest itself is not among the paths, see ``manifest(of:)``. Neither are URLs, which are
    /// refused elsewhere.
    package init(of job: JobSpec) {
        all =
            job.inputs.filter { !PathText.isRemote($0) }.map { Self.input($0, in: job.folder) }
            + job.chain.flatMap(Self.pictures)
            + job.outputs.flatMap { output in
                [Self.output(output.template, of: job)] + output.ownChain.flatMap(Self.pictures)
                    + output.save.profilePaths.map { path in
                        JobPath(
                            origin: "'color' of 'save'", path: PathText.normalized(path, in: "/"), access: .read)
                    }
            }
            + [job.index.map { ("'index'", $0) }, job.slurm?.folder.map { ("'folder' of 'slurm'", $0) }]
            .compactMap { $0 }
            .map { origin, path in
                JobPath(origin: origin, path: PathText.normalized(path, in: job.folder), access: .written)
            }
    }

    /// For each output of the job, the folder that all of its files are in or below.
    package static func outputFolders(of job: JobSpec) -> [String] {
        job.outputs.map { output($0.template, of: job).path }
    }

    package var read: [String] { all.filter { $0.access == .read }.map(\.path) }
    package var written: [String] { all.filter { $0.access == .written }.map(\.path) }

    /// The manifest's own file. A manifest that the service keeps is not subject to the roots of a token.
    package static func manifest(of job: JobSpec) -> JobPath {
        JobPath(origin: "the manifest", path: PathText.normalized(job.manifestPath, in: "/"), access: .read)
    }

    private static func input(_ pattern: String, in folder: String) -> JobPath {
        let glob = GlobPattern(pattern, in: folder)
        return JobPath(
            origin: "input \(quoted(pattern))", path: glob.isLiteral ? glob.text : PathText.joined(glob.fixedFolder),
            access: .read)
    }

    private static func pictures(of filter: FilterInvocation) -> [JobPath] {
        filter.pictures.sorted { $0.key < $1.key }.map { parameter, picture in
            JobPath(
                origin: "\(quoted(parameter)) of \(quoted(filter.filter))",
                path: PathText.normalized(picture.path, in: "/"), access: .read)
        }
            + filter.pictureTemplates.sorted { $0.key < $1.key }.map { parameter, template in
                JobPath(
                    origin: "\(quoted(parameter)) of \(quoted(filter.filter))", path: template.fixedFolder,
                    access: .read)
            }
            + [filter.regionFile].compactMap(\.self).map { file in
                JobPath(
                    origin: "'within' of \(quoted(filter.filter))",
                    path: file.isOfEachPicture ? file.fixedFolder : PathText.normalized(file.path, in: "/"),
                    access: .read)
            }
    }

    private static func output(_ template: OutputTemplate, of job: JobSpec) -> JobPath {
        JobPath(
            origin: "output \(quoted(template.source))", path: template.fixedFolder(in: job.folder, job: job.name),
            access: .written)
    }

    private static func quoted(_ text: String) -> String { "'\(VisibleText.line(text))'" }
}

extension OutputTemplate {
    /// The folder that all outputs of the template are in or below, whatever the inputs are called.
    ///
    /// `{dir}` may be no folder at all. So a `..` behind it can lead above the folder before it.
    fileprivate func fixedFolder(in folder: String, job: String) -> String {
        var fixed = source.utf8.first == PathNames.slash ? [] : PathText.components(folder)
        /// Nil as long as all names are fixed, then the least number of names behind them.
        var below: Int?
        for name in names(job: job).dropLast() {
            switch name {
            case .fixed(""), .fixed("."): continue
            case .fixed(".."):
                if let count = below, count > 0 { below = count - 1 } else { _ = fixed.popLast() }
            case .fixed(let name):
                if let count = below { below = count + 1 } else { fixed.append(name) }
            case .variable(let mayBeEmpty): below = (below ?? 0) + (mayBeEmpty ? 0 : 1)
            }
        }
        return PathText.joined(fixed)
    }

    private enum Name {
        case fixed(String)
        case variable(mayBeEmpty: Bool)
    }

    /// The template, cut at its slashes.
    private func names(job: String) -> [Name] {
        var names: [Name] = []
        var text = ""
        var fields: [Field] = []
        func end() {
            names.append(
                fields.isEmpty
                    ? .fixed(text) : .variable(mayBeEmpty: text.isEmpty && fields.allSatisfy(Self.mayBeEmpty)))
            (text, fields) = ("", [])
        }
        for piece in pieces {
            switch piece {
            // A job's name has no slash.
            case .field(.job): text += job
            case .field(let field): fields.append(field)
            case .literal(let literal):
                let parts = literal.utf8.split(separator: PathNames.slash, omittingEmptySubsequences: false)
                for (index, part) in parts.enumerated() {
                    if index > 0 { end() }
                    text += String(Substring(part))
                }
            }
        }
        end()
        return names
    }

    private static func mayBeEmpty(_ field: Field) -> Bool {
        switch field {
        case .dir, .ext: true
        case .stem, .job, .width, .height, .index, .frame, .date, .hash8: false
        }
    }
}
