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

/// Names the outputs of a job's frames, and decides which frames run.
struct FrameNaming: Sendable {
    let plan: JobPlan
    let variants: FrameVariants
    let freshness: Freshness

    /// Gives the job its targets: frames with the names of their outputs and a verdict. Frames that must not be rendered end here.
    ///
    /// - Parameter preparation: probes the frames whose names depend on the picture.
    func name(_ prepared: inout PreparedJob, by preparation: JobPreparation) async throws {
        let stamps = await Blocking.run { plan.inputStamps() }
        var named = Named()
        for (frame, stamp) in zip(plan.frames, stamps) {
            if let failure = variants.failure(of: frame) {
                prepared.ended.append(frame.report(.failed(failure)))
            } else {
                named.frames.append(frame)
                named.stamps.append(stamp)
            }
        }
        if plan.job.needsProbe {
            try await probe(&prepared, &named, by: preparation)
            named = withNames(named, &prepared)
        }
        let targets = await Blocking.run { [named] in self.targets(named) }
        var problems: [PlannedOutput.Owner: PlanError]
        do {
            problems = try nameCollisions(targets, inputStamps: stamps)
        } catch {
            throw preparation.refusal(error, plan.job)
        }
        let isList = preparation.list != nil
        problems.merge(targets.lazy.compactMap { obstacle(of: $0, isList: isList) }) { first, _ in first }
        guard !problems.isEmpty else {
            prepared.targets = targets
            return
        }
        prepared.targets = targets.filter { problems[PlannedOutput.Owner($0.frame)] == nil }
        prepared.ended += targets.compactMap { target in
            problems[PlannedOutput.Owner(target.frame)].map { problem in
                target.report(.failed(FrameFailure(.output, problem.message(of: target.files.input))))
            }
        }
    }

    /// All cores do this: hundreds of thousands of frames are usual.
    private func targets(_ named: Named) -> [FrameTarget] {
        concurrentMap(Array(named.frames.indices), keeping: OutputLookup()) { index, lookup in
            let frame = named.frames[index]
            let paths = named.outputs?[index].paths ?? plan.outputs(of: frame, measures: nil)
            let outputs = zip(paths, frame.formats).map { path, format in
                (path: path, stamp: lookup.stamp(at: path, isFolder: plan.folderFormats.contains(format)))
            }
            let files = files(frame, named.stamps[index], outputs: outputs)
            return FrameTarget(
                frame: frame, outputs: paths, probe: named.outputs?[index].probe, variant: variants[frame],
                files: files,
                verdict: freshness.verdict(of: files))
        }
    }

    /// Frames on their way to names.
    private struct Named: Sendable {
        var frames: [PlannedFrame] = []
        var stamps: [FileStamp?] = []
        /// The names, with the probe that they follow from; nil if no name needs a probe.
        var outputs: [(paths: [String], probe: ProbeReceipt?)]?
    }

    /// Probes the frames whose names need it. Known broken pictures do not, nor do frames whose names the ledger knows. Pictures
    /// without outputs come first, because a deadline may stop the probes.
    private func probe(
        _ prepared: inout PreparedJob, _ named: inout Named, by preparation: JobPreparation
    ) async throws {
        let unknown = zip(named.frames, named.stamps).filter { frame, stamp in
            !isLeftAlone(frame, stamp) && knownNames(frame, stamp) == nil
        }.map(\.0)
        let isLater = unknown.map { freshness.hasOutputs($0.input.path) }
        let ordered = [false, true].flatMap { later in zip(unknown, isLater).filter { $0.1 == later }.map(\.0) }
        try await preparation.probe(&prepared, ordered) { variants[$0] }
        guard plan.job.rendersPages else { return }
        // Pages differ in size. The first page of each picture is probed already.
        var pages = Named()
        for (frame, stamp) in zip(named.frames, named.stamps) {
            let count = if case .success(let probe) = prepared.findings[frame.id] { probe.pages } else { 1 }
            pages.frames += (0..<count).map { $0 == 0 ? frame : frame.page($0) }
            pages.stamps += Array(repeating: stamp, count: count)
        }
        named = pages
        try await preparation.probe(&prepared, named.frames.filter { $0.page > 0 }) { variants[$0] }
    }

    /// The frame needs no names: its picture is still broken, or somebody may still write it.
    private func isLeftAlone(_ frame: PlannedFrame, _ stamp: FileStamp?) -> Bool {
        let files = files(frame, stamp, outputs: [])
        return freshness.isTooRecent(files) || freshness.isStillBroken(files) != nil
    }

    /// The names under which an unchanged frame's outputs were published. Nil if names depend on the date or on the frames' order.
    private func knownNames(_ frame: PlannedFrame, _ stamp: FileStamp?) -> [String]? {
        guard !plan.job.rendersPages, !plan.job.namesOrder, let stamp else { return nil }
        let known = freshness.knownNames(
            input: frame.input.path, stamp: stamp, recipes: variants.recipes(of: frame, in: freshness.recipes))
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

    /// - Parameter pattern: has `{hash8}` in place of eight hexadecimal digits.
    private static func fits(_ name: String, _ pattern: String) -> Bool {
        let parts = Array(pattern.utf8).split(separator: Array("{hash8}".utf8), omittingEmptySubsequences: false)
        var rest = Array(name.utf8)[...]
        for (index, part) in parts.enumerated() {
            if index > 0 {
                guard rest.count >= 8, rest.prefix(8).allSatisfy(isHexDigit) else { return false }
                rest = rest.dropFirst(8)
            }
            guard rest.starts(with: part) else { return false }
            rest = rest.dropFirst(part.count)
        }
        return rest.isEmpty
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }

    /// Gives frames their names. A frame without names has failed, or a deadline came before its probe.
    private func withNames(_ named: Named, _ prepared: inout PreparedJob) -> Named {
        var result = Named(outputs: [])
        for (frame, stamp) in zip(named.frames, named.stamps) {
            switch prepared.findings[frame.id] {
            case .success(let probe):
                let paths = plan.outputs(of: frame, measures: probe.outputs.map(OutputNaming.Measures.init))
                result.outputs?.append((paths, probe))
            case .failure(let failure):
                prepared.ended.append(frame.report(.failed(failure)))
                prepared.brokenFiles.append((files(frame, stamp, outputs: []), failure))
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

    /// A file at an output's path that the run cannot replace, or must not.
    ///
    /// - Parameter isList: a list of files names the inputs.
    private func obstacle(of target: FrameTarget, isList: Bool) -> (PlannedOutput.Owner, PlanError)? {
        let owner = PlannedOutput.Owner(target.frame)
        for kept in target.verdict.kept where FileSystem.isOwnFolder(kept.path) && isFile(kept.path, of: target) {
            return (owner, .folderInTheWay(output: kept.path))
        }
        // A list is a part of a job's inputs, so inputs with one output may come in two runs. `existing: overwrite` allows that.
        guard isList, freshness.existing != .overwrite,
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

    /// The input that an output was made of, if it is another file that still exists.
    private func otherInput(_ output: String, _ target: FrameTarget) -> String? {
        guard let input = freshness.record(at: output)?.input, PathKey(input) != PathKey(target.files.input),
            OutputLookup.inputMayExist(at: input), FileStamp(of: input)?.identity != target.files.stamp?.identity
        else { return nil }
        return input
    }

    /// - Returns: the frames that must not be rendered because of their outputs' names.
    private func nameCollisions(
        _ targets: [FrameTarget], inputStamps: [FileStamp?]
    ) throws(PlanError) -> [PlannedOutput.Owner: PlanError] {
        let outputs = targets.flatMap { target in
            // Frames that are left alone may have outputs without names.
            zip(target.outputs, zip(target.files.outputs, target.frame.formats)).map { path, known in
                let (output, format) = known
                return PlannedOutput(
                    frame: target.frame, path: path, folder: plan.folder(of: format),
                    stamp: output.stamp)
            }
        }
        return try plan.check(
            outputs, inputStamps: inputStamps,
            pictures: plan.job.picturePaths + variants.picturePaths + variants.ownPicturePaths)
    }

    /// - Parameter outputs: with the stamps of existing files; empty if their names are unknown.
    private func files(_ frame: PlannedFrame, _ stamp: FileStamp?, outputs: [(path: String, stamp: FileStamp?)])
        -> FrameFiles
    {
        let recipes = variants.recipes(of: frame, in: freshness.recipes)
        let outputs = recipes.indices.map { index in
            let (path, stamp) = outputs.isEmpty ? ("", nil) : outputs[index]
            let isFolder = plan.folderFormats.contains(frame.formats[index])
            let isOutput = stamp != nil && (!isFolder || FileSystem.isOutput(path))
            return FrameFiles.Output(path: path, stamp: stamp, isOutput: isOutput, recipe: recipes[index])
        }
        return FrameFiles(
            input: frame.input.path, inputBytes: frame.input.bytes, page: frame.page, stamp: stamp, outputs: outputs)
    }
}

extension PlannedFrame {
    /// The end of a frame whose outputs have no names yet.
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

/// What single frames have of their own, and the recipes that follow from it: settings of a list of files, regions, pictures of
/// filters, names in texts, and the addresses of outputs.
final class FrameVariants: Sendable {
    private struct Kind: Hashable {
        let settings: Int?
        let formats: [String]
        let isAnimation: Bool
    }

    private let job: JobSpec
    private let naming: OutputNaming
    private let catalog: Catalog
    /// The save options that are addresses, by the names of their formats.
    private let addresses: [String: [String]]
    /// The index is ``PlannedFrame/settings``.
    private let variants: [FrameVariant]
    /// Whether texts have names of pictures, so that each frame has a chain of its own.
    private let namesPictures: Bool
    /// The frames with regions or pictures of their own, by their index. A frame without them fails.
    private let regional: [Int: Result<FrameVariant, FrameFailure>]
    /// Names in files with regions that are probably misspelt.
    let hints: [String]
    private let known = Mutex<[Kind: [RecipeKey]]>([:])

    /// - Parameter reread: the manifest with more overrides.
    /// - Throws: ``FarmError`` that names the first line with these settings.
    init(_ plan: JobPlan, catalog: Catalog, reread: ([Override]) throws -> ReadResult) throws {
        (job, naming) = (plan.job, plan.naming)
        self.catalog = catalog
        addresses = Dictionary(
            catalog.formats.map { ($0.name, $0.options.filter { $0.kind == .address }.map(\.name)) }
        ) { $1 }.filter { !$0.value.isEmpty }
        variants = try zip(plan.settings, plan.settingsOrigins).map { settings, line in
            let overrides = settings.map { Override($0.argument, name: "\(line): set \($0.argument)") }
            let result = try reread(overrides)
            guard let job = result.job else {
                throw FarmError(.badManifest, result.messages.joined(separator: "\n"))
            }
            return try Self.variant(job, of: plan.job, settings, at: line)
        }
        (hints, regional) = ([], [:])
        namesPictures = Self.namesPictures(job, variants)
    }

    private init(
        _ other: FrameVariants, _ variants: [FrameVariant], hints: [String] = [],
        regional: [Int: Result<FrameVariant, FrameFailure>] = [:]
    ) {
        (job, naming, catalog, self.variants) = (other.job, other.naming, other.catalog, variants)
        addresses = other.addresses
        (self.hints, self.regional) = (hints, regional)
        namesPictures = Self.namesPictures(other.job, variants)
    }

    /// A copy that knows the regions of the plan's frames.
    ///
    /// - Parameter others: pictures that the job has besides those of the plan. Names must not mean one of them, too.
    /// - Throws: ``FarmError`` if a file with the regions of all pictures cannot be used.
    func withRegions(
        of plan: JobPlan, others: () throws(FarmError) -> [InputFile], shownFrom folder: String
    ) throws(FarmError) -> FrameVariants {
        let filters = allFilters(of: plan)
        guard filters.contains(where: { $0.regionFile != nil }) else { return self }
        let known = Set(plan.inputs.map(\.exactPath))
        let others = try others().filter { !known.contains($0.exactPath) }
        let lookup = try RegionLookup(filters, inputs: plan.inputs + others, shownFrom: folder)
        let resolved = concurrentMap(plan.frames) { frame in
            Result { () throws(FrameFailure) in try lookup.resolved(self.usual(frame), for: frame.input) }
        }
        // Of some pictures, none may have regions, or all may have other categories.
        if plan.frames.count == plan.inputs.count, others.isEmpty { try lookup.refuseIdle(plan.inputs.first) }
        return FrameVariants(
            self, variants, hints: lookup.hints,
            regional: Dictionary(zip(plan.frames.map(\.index), resolved)) { first, _ in first })
    }

    /// All filters, before the regions and pictures of frames are known.
    private func allFilters(of plan: JobPlan) -> [FilterInvocation] {
        variants.reduce(plan.job.allFilters) { $0 + $1.chain + $1.outputs.flatMap(\.ownChain) }
    }

    /// A copy that knows which pictures the plan's frames have of their own, and which of them are there.
    ///
    /// - Throws: ``FarmError`` if a folder of such pictures is missing.
    func withOwnPictures(of plan: JobPlan, shownFrom folder: String) throws(FarmError) -> FrameVariants {
        let filters = allFilters(of: plan)
        guard filters.contains(where: { !$0.pictureTemplates.isEmpty }) else { return self }
        let pictures = try OwnPictures(filters, shownFrom: folder)
        let resolved = concurrentMap(plan.frames) { frame in
            Result { () throws(FrameFailure) in
                try pictures.resolved(try self.regional[frame.index]?.get() ?? self.usual(frame), for: frame.input)
            }
        }
        let known = zip(plan.frames, resolved).map { frame, variant in
            (input: frame.input, pictures: (try? variant.get()).map(Self.ownPictures) ?? [])
        }
        var own = Dictionary(zip(plan.frames.map(\.index), resolved)) { first, _ in first }
        for (index, failure) in OwnPictures.pictureInputs(known) { own[plan.frames[index].index] = .failure(failure) }
        return FrameVariants(self, variants, hints: hints, regional: own)
    }

    /// The pictures that single frames have of their own.
    var ownPicturePaths: [String] {
        guard !regional.isEmpty else { return [] }
        return Set(regional.values.lazy.compactMap { try? $0.get() }.flatMap(Self.ownPictures)).sorted()
    }

    private static func ownPictures(_ variant: FrameVariant) -> [String] {
        (variant.chain + variant.outputs.flatMap(\.ownChain)).flatMap(\.pictures.values).filter(\.isOwn).map(\.path)
    }

    /// A copy with the digests of ``ownPicturePaths``.
    ///
    /// - Parameter digests: by path. If one is missing, the frames fail that need its picture.
    func withOwnDigests(
        _ digests: [PathKey: String], of plan: JobPlan, shownFrom folder: String
    ) -> FrameVariants {
        func known(_ picture: PictureReference) -> PictureReference {
            guard picture.isOwn else { return picture }
            return PictureReference(path: picture.path, digest: digests[PathKey(picture.path)], isOwn: true)
        }
        var complete = regional
        for frame in plan.frames {
            guard case .success(let variant)? = regional[frame.index] else { continue }
            if let unread = Self.ownPictures(variant).first(where: { digests[PathKey($0)] == nil }) {
                complete[frame.index] = .failure(
                    OwnPictures.unreadable(unread, for: frame.input, shownFrom: folder))
            } else {
                complete[frame.index] = .success(
                    variant.mapping { chain in chain.map { $0.mappingPictures(known) } })
            }
        }
        return FrameVariants(self, variants, hints: hints, regional: complete)
    }

    /// Why a frame cannot be rendered. Nil if it can.
    func failure(of frame: PlannedFrame) -> FrameFailure? {
        if case .failure(let failure)? = regional[frame.index] { failure } else { nil }
    }

    /// The filters and outputs of a frame, before its regions are known.
    private func usual(_ frame: PlannedFrame) -> FrameVariant {
        frame.settings.map { variants[$0] } ?? FrameVariant(chain: job.chain, outputs: job.outputs)
    }

    /// The pictures that filters of any variant read, and the colour profiles of its outputs.
    var picturePaths: [String] {
        Set(variants.flatMap { $0.chain.picturePaths + $0.outputs.flatMap(\.picturePaths) }).sorted()
    }

    /// A copy that knows the digests of these pictures, by path.
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

    /// A variant may differ from the job in filters and save options only.
    private static func variant(
        _ changed: JobSpec, of job: JobSpec, _ settings: [FileList.Setting], at line: String
    ) throws -> FrameVariant {
        var restored = changed
        restored.chain = job.chain
        restored.outputs = job.outputs
        let hasSamePaths = changed.outputs.map(\.template) == job.outputs.map(\.template)
        guard restored == job, hasSamePaths else {
            throw FarmError(
                .badManifest,
                "\(line): set \(settings.map(\.argument).joined(separator: ", ")): a list of files can set 'filters' and 'save' "
                    + "for single files, and nothing else\n   = write the rest into the manifest, or give it by --set")
        }
        return FrameVariant(chain: changed.chain, outputs: changed.outputs)
    }

    /// Nil if the job's own settings hold for the frame.
    subscript(frame: PlannedFrame) -> FrameVariant? {
        let own: FrameVariant? =
            if case .success(let variant)? = regional[frame.index] { variant } else {
                frame.settings.map { variants[$0] }
            }
        guard namesPictures || hasAddresses(frame) else { return own }
        var variant = own ?? usual(frame)
        if namesPictures {
            variant = variant.mapping { chain in
                naming.filling(chain, for: frame.input, index: frame.index, page: frame.page)
            }
        }
        return hasAddresses(frame) ? addressed(variant, frame) : variant
    }

    private static func namesPictures(_ job: JobSpec, _ variants: [FrameVariant]) -> Bool {
        let filters = variants.reduce(job.allFilters) { $0 + $1.chain + $1.outputs.flatMap(\.ownChain) }
        return filters.contains { $0.templates.contains(where: \.hasNames) }
    }

    private func hasAddresses(_ frame: PlannedFrame) -> Bool { frame.formats.contains { addresses[$0] != nil } }

    /// The same with the addresses of one frame.
    private func addressed(_ variant: FrameVariant, _ frame: PlannedFrame) -> FrameVariant {
        var outputs = variant.outputs
        for (index, format) in frame.formats.enumerated() {
            for name in addresses[format] ?? [] {
                guard case .text(let template)? = outputs[index].save.values[name] else { continue }
                let address = naming.address(template, for: frame.input, index: frame.index, page: frame.page)
                outputs[index].save.values[name] = .text(address)
            }
        }
        return FrameVariant(chain: variant.chain, outputs: outputs)
    }

    /// How each of a frame's outputs is made.
    func recipes(of frame: PlannedFrame, in table: RecipeTable) -> [RecipeKey] {
        guard regional.isEmpty, !namesPictures, !hasAddresses(frame) else { return keys(of: frame, in: table) }
        let kind = Kind(
            settings: frame.settings, formats: frame.formats, isAnimation: frame.pages == .animation)
        return known.withLock { known in
            if let keys = known[kind] { return keys }
            let keys = keys(of: frame, in: table)
            known[kind] = keys
            return keys
        }
    }

    private func keys(of frame: PlannedFrame, in table: RecipeTable) -> [RecipeKey] {
        let variant = self[frame] ?? usual(frame)
        return zip(variant.outputs, frame.formats).map { output, format in
            table.key(
                of: Recipe(
                    chain: variant.chain + output.ownChain, color: job.color, format: format, save: output.save,
                    pages: frame.pages, dpi: job.dpi, catalog: catalog))
        }
    }
}
