import Catalogs
import JobModel

/// Types the tree of a job manifest.
struct JobTyper {
    let catalog: Catalog
    let inspect: PictureLookup.Inspection
    let log: DiagnosticLog

    /// The job. Nil if a required part is missing or wrong. Other wrong values are in the log, and the job has defaults
    /// for them.
    func job(from root: SyntaxNode, manifestPath: String) -> JobSpec? {
        guard var reader = MappingReader(root, of: "the job", log: log) else { return nil }
        let name = reader.required("job", .jobName, example: "nightly-blur")
        let summary = reader.value("description", .text, default: "")
        let inputs = reader.required("inputs", .patterns, example: "photos/**/*.jpg")
        let exclude = reader.value("exclude", .list(of: .nonEmptyText), default: [])
        let pictures = PictureLookup(folder: Self.folder(of: manifestPath), inspect: inspect)
        let catalog = catalog.sharing(sharedValues(from: &reader))
        let layers = layers(from: &reader, catalog, pictures)
        let filters = commonFilters(from: &reader, catalog, pictures)
        _ = reader.entry("animate")  // a key of its own place, though its value is read behind the outputs
        let outputs = OutputsReader(catalog: catalog, pictures: pictures, log: log).outputs(from: &reader)
        let animating = AnimationReader(catalog: catalog, pictures: pictures, log: log)
        let animations = reader.optional("animate", animating.animations)
        var policies = Policies(from: &reader)
        let folder = Self.folder(of: manifestPath)
        let path = ValueReader<String>.nonEmptyText.map { PathNames.isAbsolute($0) ? $0 : "\(folder)/\($0)" }
        let slurm = reader.optional("slurm", SlurmReader.wishes(path, from: .manifest))
        let foreign = ForeignKeys(
            catalog: catalog, filters: reader.mapping["filters"], outputs: reader.mapping["outputs"])
        reader.finish(aliases: Self.aliases) { foreign.problem(of: $0) }
        guard let name, let inputs, let layers, let filters, var outputs else { return nil }

        checkFrames(of: outputs, isAnimated: animations != nil)
        if let animations { outputs = animating.outputs(outputs, showing: animations, after: filters) }
        let chain = layers + filters
        let whole = chain + outputs.flatMap(\.job.ownChain)
        for output in outputs { refuseMovedRegions(chain + output.job.ownChain) }
        refuseLateMeasures(chain, outputs.map(\.job.ownChain))
        if let cause = otherPicture(in: whole) {
            policies.chooseSRGB(reader, log, refusing: .layersKeepColors)
            warnOfNarrowColors(outputs, cause, at: reader)
        } else if let cause = sRGBColor(in: whole) {
            policies.chooseSRGB(reader, log, refusing: .colorsKeepColors(cause.parameter))
            warnOfNarrowColors(outputs, cause, at: reader)
        }
        checkNames(of: outputs, inputs: inputs, at: reader)
        let saved = outputs.map { Self.decided($0.job, after: chain) }
        var job = policies.job(
            JobSpec(
                name: name, summary: summary, manifestPath: manifestPath, folder: Self.folder(of: manifestPath),
                inputs: inputs, exclude: exclude, chain: chain, outputs: saved))
        job.slurm = slurm
        return job
    }

    /// An output with one filter has no choice, and keeps the recipe that it had before there was one.
    private static func decided(_ output: JobOutput, after chain: [FilterInvocation]) -> JobOutput {
        guard output.save.precision == .auto, chain.count + output.ownChain.count < 2 else { return output }
        var output = output
        output.save.precision = .input
        return output
    }

    /// Refuses videos of single frames. Warns of outputs that several pages of a picture would share. ``AnimationReader`` does
    /// so for animations.
    private func checkFrames(of outputs: [OutputsReader.Output], isAnimated: Bool) {
        for output in outputs where output.job.template.namesPages {
            guard case .known(let format) = output.format, format.isVideo else { continue }
            log.error(.job(.frameOfVideo(format: format.name)), at: output.span)
        }
        guard !isAnimated, outputs.contains(where: \.job.template.namesPages) else { return }
        for output in outputs where !output.job.template.namesPages {
            log.warning(.job(.pagesInSomeNames), at: output.span)
        }
    }

    /// The values that the job sets for all its filters.
    private func sharedValues(from reader: inout MappingReader) -> [String: ParameterValue] {
        ParameterTyper(log: log).values(of: catalog.sharedParameters, in: &reader).mapValues(\.value)
    }

    private func layers(
        from reader: inout MappingReader, _ catalog: Catalog, _ pictures: PictureLookup
    ) -> [FilterInvocation]? {
        guard reader.entry("layers") != nil else { return [] }
        return reader.optional("layers", LayersReader(catalog: catalog, pictures: pictures).layers)
    }

    /// The common filters. They may be missing if several outputs have filters of their own.
    private func commonFilters(
        from reader: inout MappingReader, _ catalog: Catalog, _ pictures: PictureLookup
    ) -> [FilterInvocation]? {
        let type = ChainReader(catalog: catalog, pictures: pictures).chain
        let isOptional = ["outputs", "layers", "animate"].contains { reader.mapping[$0] != nil }
        if isOptional, reader.entry("filters") == nil { return [] }
        return reader.required(
            "filters", type, example: "[{gaussian: {radius: 12}}]", or: "'filters: []' to change only the format")
    }

    /// Refuses filters with regions from a file, or a picture for each input, behind a filter that moves pixels. What was to be changed
    /// would stay as it is.
    private func refuseMovedRegions(_ chain: [FilterInvocation]) {
        var mover: String?
        for invocation in chain {
            if let mover, let problem = Self.moved(invocation, by: mover),
                let mention = log.filters.last(where: { $0.invocation == invocation })
            {
                log.error(.filter(problem), at: mention.span)
            }
            let mayMove = catalog.filter(named: invocation.filter)?.mayMovePixels ?? false
            if mayMove || invocation.values["extent"] == .word("expand") { mover = mover ?? invocation.filter }
        }
    }

    private static func moved(_ invocation: FilterInvocation, by mover: String) -> FilterProblem? {
        if invocation.regionFile != nil { return .movedRegions(filter: invocation.filter, mover: mover) }
        return invocation.pictureTemplates.keys.min().map {
            .movedPictures(parameter: $0, filter: invocation.filter, mover: mover)
        }
    }

    /// Refuses filters that measure the picture as it is in its file, if other filters come before them.
    ///
    /// - Parameter rests: the filters of each output after the common ones.
    private func refuseLateMeasures(_ common: [FilterInvocation], _ rests: [[FilterInvocation]]) {
        refuseLateMeasures(common, from: common.measuredFilters.count)
        for rest in rests {
            let whole = common + rest
            refuseLateMeasures(whole, from: max(common.count, whole.measuredFilters.count))
        }
    }

    private func refuseLateMeasures(_ chain: [FilterInvocation], from start: Int) {
        for index in chain.indices.dropFirst(start) where chain[index].measures != nil {
            guard let mention = log.filters.last(where: { $0.invocation == chain[index] }) else { continue }
            let problem = FilterProblem.lateMeasure(filter: chain[index].filter, before: chain[index - 1].filter)
            log.error(.filter(problem), at: mention.span)
        }
    }

    /// The parameter for another picture that is visible in the outputs. This needs one colour space for all. Nil if there is none.
    private func otherPicture(in chain: [FilterInvocation]) -> CauseOfSRGB? {
        chain.lazy.compactMap { invocation in
            catalog.filter(named: invocation.filter)?.parameters.first { $0.kind == .layer }
                .map { CauseOfSRGB(parameter: $0.name, filter: invocation.filter) }
        }.first
    }

    /// The parameter that makes a job work in sRGB, and its filter.
    private struct CauseOfSRGB {
        let parameter: String
        let filter: String
    }

    /// Warns of outputs in spaces that are wider than sRGB, if the manifest does not say itself that it works in sRGB.
    ///
    /// - Parameter cause: what makes it work there.
    private func warnOfNarrowColors(
        _ outputs: [OutputsReader.Output], _ cause: CauseOfSRGB, at reader: MappingReader
    ) {
        guard reader.mapping["color"] == nil else { return }
        for output in outputs {
            guard let color = output.job.save.color, color.isWide else { continue }
            let problem = JobProblem.narrowColors(color.words, parameter: cause.parameter, of: cause.filter)
            log.warning(.job(problem), at: output.span)
        }
    }

    /// The parameter with a colour that has a meaning in sRGB only. Nil if there is none. Black, white and transparent
    /// are the same in every colour space.
    private func sRGBColor(in chain: [FilterInvocation]) -> CauseOfSRGB? {
        for invocation in chain {
            for parameter in catalog.filter(named: invocation.filter)?.parameters ?? [] where parameter.kind == .color {
                guard case .color(let red, let green, let blue, let alpha)? = invocation.values[parameter.name],
                    alpha > 0, ![[0, 0, 0], [255, 255, 255]].contains([red, green, blue])
                else { continue }
                return CauseOfSRGB(parameter: parameter.name, filter: invocation.filter)
            }
        }
        return nil
    }

    /// The part before the last slash.
    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Warns about names that are valid but probably not meant, and refuses URLs.
    private func checkNames(of outputs: [OutputsReader.Output], inputs: [String], at reader: MappingReader) {
        if let node = reader.mapping["inputs"], let url = inputs.first(where: \.isURL) {
            log.error(.job(.remotePath(url, name: "inputs")), at: node.span)
        }
        for output in outputs where output.job.template.source.isURL {
            log.error(.job(.remotePath(output.job.template.source, name: "output")), at: output.span)
        }
        if let node = reader.mapping["inputs"], inputs.contains(where: { $0.hasPrefix("~") }) {
            log.warning(.job(.tilde(name: "inputs")), at: node.span)
        }
        let wildcard = inputs.first(where: \.mayMatchSeveral)
        let cause = wildcard ?? (inputs.count > 1 ? inputs.joined(separator: ", ") : nil)
        for output in outputs {
            if output.job.template.source.hasPrefix("~") { log.warning(.job(.tilde(name: "output")), at: output.span) }
            if let cause, !output.job.template.distinguishesInputs {
                log.warning(.job(.sameNameForAll(inputs: cause.quoted)), at: output.span)
            }
        }
    }
}

extension String {
    /// Whether a pattern may match several files. `[*]` and the like stand for one character, in a name that was quoted.
    fileprivate var mayMatchSeveral: Bool {
        var rest = self[...]
        while let character = rest.first {
            if character == "*" || character == "?" { return true }
            guard character == "[" else {
                rest.removeFirst()
                continue
            }
            guard rest.dropFirst(2).first == "]" else { return true }
            rest = rest.dropFirst(3)
        }
        return false
    }
}

extension OutputTemplate {
    /// False if every input certainly gets the same name.
    fileprivate var distinguishesInputs: Bool {
        pieces.contains { piece in
            switch piece {
            case .field(.stem), .field(.index), .field(.hash8): true
            case .field, .literal: false
            }
        }
    }
}

extension String {
    /// `s3://…`, `https://…`
    fileprivate var isURL: Bool {
        guard let colon = firstIndex(of: ":"), self[colon...].hasPrefix("://"), let first, first.isLetter else {
            return false
        }
        return self[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) }
    }
}
