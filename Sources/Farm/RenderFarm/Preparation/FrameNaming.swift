import Catalogs
import Coordination
import Geometry
import JobModel
import JobStorage
import Manifests
import Planning
import SafeFiles
import Scheduling
import Synchronization
import WorkerProtocol

/// Names the outputs of a job's frames, and decides what is to be done with each.
struct FrameNaming {
    let preparation: JobPreparation
    package let plan: JobPlan
    let variants: FrameVariants
    let freshness: Freshness

    private var decisions: FrameDecisions { FrameDecisions(plan: plan, variants: variants, freshness: freshness) }

    func name(_ prepared: inout PreparedJob) async throws {
        let stamps = plan.inputStamps()
        var named = Named(frames: plan.frames, stamps: stamps)
        if plan.job.needsProbe {
            try await survey(&prepared, &named)
            named = withNames(named, &prepared)
        }
        let targets = targets(of: named)
        var unlucky = try check(targets, inputStamps: stamps)
        unlucky.merge(targets.lazy.compactMap(inTheWay)) { first, _ in first }
        prepared.targets = targets.filter { unlucky[PlannedOutput.Owner($0.frame)] == nil }
        prepared.ended += targets.compactMap { target in
            unlucky[PlannedOutput.Owner(target.frame)].map { problem in
                target.report(.failed(FrameFailure(.output, problem.message(of: target.files.input))))
            }
        }
    }

    /// Frames that are to be named.
    private struct Named: Sendable {
        var frames: [PlannedFrame] = []
        var stamps: [FileStamp?] = []
        /// Of frames whose names need a probe, with what it found.
        var outputs: [(paths: [String], probe: ProbeReceipt?)]?
    }

    /// Probes what has to be probed for its names: not what is broken, nor what the ledger knows by name. Pictures without
    /// outputs come first: a deadline may stop it.
    private func survey(_ prepared: inout PreparedJob, _ named: inout Named) async throws {
        let unknown = zip(named.frames, named.stamps).filter { frame, stamp in
            !isLeftAlone(frame, stamp) && knownNames(frame, stamp) == nil
        }.map(\.0)
        let isLater = unknown.map { freshness.hasOutputs($0.input.path) }
        let ordered = [false, true].flatMap { later in zip(unknown, isLater).filter { $0.1 == later }.map(\.0) }
        try await preparation.survey(&prepared, ordered) { [variants] in variants[$0] }
        guard plan.job.rendersPages else { return }
        // Pages differ in size; the first ones are known.
        var pages = Named()
        for (frame, stamp) in zip(named.frames, named.stamps) {
            let count = if case .success(let probe) = prepared.findings[frame.id] { probe.pages } else { 1 }
            pages.frames += (0..<count).map { $0 == 0 ? frame : frame.page($0) }
            pages.stamps += Array(repeating: stamp, count: count)
        }
        named = pages
        try await preparation.survey(&prepared, named.frames.filter { $0.page > 0 }) { [variants] in variants[$0] }
    }

    /// Its names need not be known: it is still broken, or may still be being written.
    private func isLeftAlone(_ frame: PlannedFrame, _ stamp: FileStamp?) -> Bool {
        let files = decisions.files(frame, stamp, outputs: [])
        return freshness.isTooRecent(files) || freshness.isStillBroken(files) != nil
    }

    /// The names that an unchanged frame's outputs were published by, where they tell no date and no place in the order.
    private func knownNames(_ frame: PlannedFrame, _ stamp: FileStamp?) -> [String]? {
        guard !plan.job.rendersPages, !plan.job.namesOrder, let stamp else { return nil }
        let known = freshness.knownNames(
            input: frame.input.path, stamp: stamp, recipes: decisions.recipes(of: frame))
        guard let known else { return nil }
        // The template may have changed since.
        let measures = known.map { name in
            let record = freshness.record(at: name)
            return OutputNaming.Measures(
                width: record?.width ?? 0, height: record?.height ?? 0, contentDigest: nil)
        }
        let patterns = plan.outputs(of: frame, measures: measures)
        return zip(known, patterns).allSatisfy(Self.fits) ? known : nil
    }

    /// - Parameter pattern: with `{hash8}` where eight hexadecimal digits are to be.
    private static func fits(_ name: String, _ pattern: String) -> Bool {
        let parts = Array(pattern.utf8).split(separator: Array("{hash8}".utf8), omittingEmptySubsequences: false)
        var rest = Array(name.utf8)[...]
        for (place, part) in parts.enumerated() {
            if place > 0 {
                guard rest.count >= 8, rest.prefix(8).allSatisfy(isHexDigit) else { return false }
                rest = rest.dropFirst(8)
            }
            guard rest.starts(with: part) else { return false }
            rest = rest.dropFirst(part.count)
        }
        return rest.isEmpty
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }

    /// Frames that get no names have failed, or a deadline came before them.
    private func withNames(_ named: Named, _ prepared: inout PreparedJob) -> Named {
        var result = Named(outputs: [])
        for (frame, stamp) in zip(named.frames, named.stamps) {
            switch prepared.findings[frame.id] {
            case .success(let probe):
                let paths = plan.outputs(of: frame, measures: probe.outputs.map(OutputNaming.Measures.init))
                result.outputs?.append((paths, probe))
            case .failure(let failure):
                prepared.ended.append(frame.report(.failed(failure)))
                prepared.brokenFiles.append((decisions.files(frame, stamp, outputs: []), failure))
                continue
            case nil:
                let names = knownNames(frame, stamp)
                guard names != nil || isLeftAlone(frame, stamp) else {
                    prepared.ended.append(frame.report(.left))
                    continue
                }
                result.outputs?.append((names ?? [], nil))
            }
            result.frames.append(frame)
            result.stamps.append(stamp)
        }
        return result
    }

    /// Names, looks and decides in one go, on all cores: hundreds of thousands wait for it.
    private func targets(of named: Named) -> [FrameTarget] {
        concurrentMap(Array(named.frames.indices), keeping: OutputLookup()) { [plan, decisions] index, place in
            let frame = named.frames[index]
            let paths = named.outputs?[index].paths ?? plan.outputs(of: frame, measures: nil)
            let stamps = zip(paths, frame.formats).map {
                place.stamp(at: $0, isFolder: plan.folderFormats.contains($1))
            }
            return decisions.target(
                frame, named.stamps[index], Array(zip(paths, stamps)), probe: named.outputs?[index].probe)
        }
    }

    /// What lies at an output's path and cannot be replaced, or must not.
    private func inTheWay(_ target: FrameTarget) -> (PlannedOutput.Owner, PlanProblem)? {
        let owner = PlannedOutput.Owner(target.frame)
        for kept in target.verdict.kept where FileSystem.isOwnFolder(kept.path) && isFile(kept.path, of: target) {
            return (owner, .folderInTheWay(output: kept.path))
        }
        // A list is not all of a job's inputs: two that collide may come one after the other. A run that replaces whatever is there
        // replaces that, too.
        guard preparation.list != nil, freshness.existing != .overwrite,
            case .render(let replacements, _, _) = target.verdict
        else { return nil }
        for replacement in replacements.compactMap(\.self) {
            if let other = otherInput(replacement.path, target) {
                return (owner, .madeOfAnother(output: replacement.path, other: other))
            }
        }
        return nil
    }

    private func isFile(_ path: String, of target: FrameTarget) -> Bool {
        zip(target.outputs, target.frame.formats).contains { output, format in
            PathKey(output) == PathKey(path) && !plan.folderFormats.contains(format)
        }
    }

    /// The input that an output was made of, where it is another file, and still there.
    private func otherInput(_ output: String, _ target: FrameTarget) -> String? {
        guard let input = freshness.record(at: output)?.input, PathKey(input) != PathKey(target.files.input),
            OutputLookup.inputMayExist(at: input), FileStamp(of: input)?.identity != target.files.stamp?.identity
        else { return nil }
        return input
    }

    /// - Returns: the frames that must not be rendered for their outputs' names.
    private func check(
        _ targets: [FrameTarget], inputStamps: [FileStamp?]
    ) throws -> [PlannedOutput.Owner: PlanProblem] {
        let outputs = targets.flatMap { target in
            // Pictures that are left alone may have outputs without names.
            zip(target.outputs, zip(target.files.outputs, target.frame.formats)).map { path, known in
                let (output, format) = known
                return PlannedOutput(
                    frame: target.frame, path: path, isFolder: plan.folderFormats.contains(format),
                    stamp: output.stamp)
            }
        }
        do {
            return try plan.check(
                outputs, inputStamps: inputStamps, pictures: plan.job.picturePaths + variants.picturePaths)
        } catch {
            throw preparation.refusal(error, plan.job)
        }
    }
}

/// Decides what is to be done with frames whose files are known.
struct FrameDecisions: Sendable {
    package let plan: JobPlan
    let variants: FrameVariants
    let freshness: Freshness

    func target(
        _ frame: PlannedFrame, _ stamp: FileStamp?, _ outputs: [(path: String, stamp: FileStamp?)], probe: ProbeReceipt?
    ) -> FrameTarget {
        let files = files(frame, stamp, outputs: outputs)
        return FrameTarget(
            frame: frame, outputs: outputs.map(\.path), probe: probe, variant: variants[frame], files: files,
            verdict: freshness.verdict(of: files))
    }

    /// - Parameter outputs: with what is there; empty where nobody knows their names.
    func files(_ frame: PlannedFrame, _ stamp: FileStamp?, outputs: [(path: String, stamp: FileStamp?)]) -> FrameFiles {
        let recipes = recipes(of: frame)
        let outputs = recipes.indices.map { index in
            let (path, stamp) = outputs.isEmpty ? ("", nil) : outputs[index]
            let isFolder = plan.folderFormats.contains(frame.formats[index])
            let isOutput = stamp != nil && (!isFolder || FileSystem.isOutput(path))
            return FrameFiles.Output(path: path, stamp: stamp, isOutput: isOutput, recipe: recipes[index])
        }
        return FrameFiles(
            input: frame.input.path, inputBytes: frame.input.bytes, page: frame.page, stamp: stamp, outputs: outputs)
    }

    func recipes(of frame: PlannedFrame) -> [RecipeKey] { variants.recipes(of: frame, in: freshness.recipes) }
}

extension PlannedFrame {
    /// Before its outputs have names.
    func report(_ state: FrameResult) -> FrameReport {
        FrameReport(index: index, page: page, input: input.path, inputBytes: input.bytes, outputs: [], state: state)
    }
}

extension OutputNaming.Measures {
    init(_ geometry: OutputGeometry) {
        self.init(
            width: geometry.extent.width, height: geometry.extent.height, contentDigest: geometry.contentDigest)
    }
}

/// What a list of files sets for single frames, and the recipes that follow.
final class FrameVariants: Sendable {
    private struct Kind: Hashable {
        let settings: Int?
        let formats: [String]
        let isAnimation: Bool
    }

    private let job: JobSpec
    private let catalog: Catalog
    /// By the frames' settings.
    private let variants: [FrameVariant]
    private let known = Mutex<[Kind: [RecipeKey]]>([:])

    /// - Parameter reread: the manifest with more overrides.
    /// - Throws: what is wrong with settings, by their first line's words.
    init(_ plan: JobPlan, catalog: Catalog, reread: ([Override]) throws -> ReadResult) throws {
        job = plan.job
        self.catalog = catalog
        variants = try zip(plan.settings, plan.settingsOrigins).map { settings, place in
            let overrides = settings.map { Override($0.argument, name: "\(place): set \($0.argument)") }
            let result = try reread(overrides)
            guard let job = result.job else {
                throw FarmError(.badManifest, result.messages.joined(separator: "\n"))
            }
            return try Self.variant(job, of: plan.job, settings, at: place)
        }
    }

    private init(_ other: FrameVariants, _ variants: [FrameVariant]) {
        (job, catalog, self.variants) = (other.job, other.catalog, variants)
    }

    /// Of the pictures that filters of any variant read.
    var picturePaths: [String] { variants.flatMap { $0.chain + $0.outputs.flatMap(\.ownChain) }.picturePaths }

    /// The same with the digests of these pictures, by path.
    func withPictures(_ digests: [PathKey: String]) -> FrameVariants {
        guard !digests.isEmpty else { return self }
        func known(_ picture: PictureReference) -> PictureReference {
            PictureReference(path: picture.path, digest: digests[PathKey(picture.path)])
        }
        return FrameVariants(
            self,
            variants.map { variant in
                FrameVariant(
                    chain: variant.chain.map { $0.mappingPictures(known) },
                    outputs: variant.outputs.map { $0.mappingPictures(known) })
            })
    }

    /// Only what is made of a picture can differ between pictures.
    private static func variant(
        _ changed: JobSpec, of job: JobSpec, _ settings: [FileList.Setting], at place: String
    ) throws -> FrameVariant {
        var restored = changed
        restored.chain = job.chain
        restored.outputs = job.outputs
        let hasSamePaths = changed.outputs.map(\.template) == job.outputs.map(\.template)
        guard restored == job, hasSamePaths else {
            throw FarmError(
                .badManifest,
                "\(place): set \(settings.map(\.argument).joined(separator: ", ")): a list of files can set 'filters' and 'save' "
                    + "for single files, and nothing else\n   = write the rest into the manifest, or give it by --set")
        }
        return FrameVariant(chain: changed.chain, outputs: changed.outputs)
    }

    /// Nil for what the job says.
    subscript(frame: PlannedFrame) -> FrameVariant? { frame.settings.map { variants[$0] } }

    /// How each of a frame's outputs is made.
    func recipes(of frame: PlannedFrame, in book: RecipeTable) -> [RecipeKey] {
        let kind = Kind(
            settings: frame.settings, formats: frame.formats, isAnimation: frame.pages == .animation)
        return known.withLock { known in
            if let keys = known[kind] { return keys }
            let variant = self[frame] ?? FrameVariant(chain: job.chain, outputs: job.outputs)
            let keys = zip(variant.outputs, frame.formats).map { output, format in
                book.key(
                    of: Recipe(
                        chain: variant.chain + output.ownChain, color: job.color, format: format, save: output.save,
                        pages: frame.pages, catalog: catalog))
            }
            known[kind] = keys
            return keys
        }
    }
}
