import Catalogs
import JobModel

/// Reads `animate:`, which makes frames of each picture after its filters: `{crossfade: {duration: 0.2}}`, or a list of
/// animations that run at the same time.
struct AnimationReader {
    let catalog: Catalog
    let pictures: PictureLookup
    let log: DiagnosticLog

    /// An animation, and the position that messages about it point to.
    struct Animation {
        var invocation: FilterInvocation
        let span: SourceSpan
        /// The spans of the parameters that the manifest gives.
        let given: [String: SourceSpan]
    }

    /// At least one animation. All have the same shared values.
    struct Animations {
        let all: [Animation]

        var invocations: [FilterInvocation] { all.map(\.invocation) }
        var first: Animation { all[0] }

        func value(_ parameter: String) -> ParameterValue? { first.invocation.values[parameter] }

        /// The manifest names a frame.
        var isOneFrame: Bool {
            switch value(FilterInvocation.frame) {
            case .integer, .word("last"): true
            default: false
            }
        }
    }

    var animations: ValueReader<Animations> {
        ValueReader { node, name, log in
            guard !offered.isEmpty else {
                log.error(.job(.noAnimationsHere), at: node.span)
                return nil
            }
            let found: [Animation]?
            if case .sequence(let items) = node.content {
                guard !items.isEmpty else {
                    log.error(.value(.emptyList(name: name)), at: node.span)
                    return nil
                }
                let read = items.enumerated().map { animations(in: $1, path: "\(name)[\($0)]") }
                found = read.contains { $0 == nil } ? nil : read.flatMap { $0 ?? [] }
            } else {
                found = animations(in: node, path: name)
            }
            return found.map(sharing)
        }
    }

    /// One entry: an animation, or several of the same kind.
    private func animations(in node: SyntaxNode, path: String) -> [Animation]? {
        switch node.content {
        case .scalar(let scalar):
            let parameters = SyntaxNode(.mapping(.init(entries: [])), span: node.span)
            return animation(scalar.text, at: node.span, parameters, path: "\(path).\(scalar.text)").map { [$0] }
        case .mapping(let mapping):
            guard let entry = mapping.entries.first, mapping.entries.count == 1 else {
                if mapping.isComplete { log.error(.job(.notOneAnimation(offered: offered)), at: node.span) }
                return nil
            }
            let path = "\(path).\(entry.key)"
            guard let several = entry.value.severalMappings else {
                return animation(entry.key, at: entry.keySpan, entry.value, path: path).map { [$0] }
            }
            let found = several.enumerated().map { index, parameters in
                animation(
                    entry.key, at: index == 0 ? entry.keySpan : parameters.span, parameters, path: "\(path)[\(index)]")
            }
            return found.contains { $0 == nil } ? nil : found.compactMap(\.self)
        case .sequence:
            log.error(.job(.notOneAnimation(offered: offered)), at: node.span)
            return nil
        case .unreadable:
            return nil
        }
    }

    private var offered: [String] { catalog.filters.filter { $0.kind == .animation }.map(\.name) }

    private func animation(
        _ name: String, at span: SourceSpan, _ parameters: SyntaxNode, path: String
    ) -> Animation? {
        guard let descriptor = catalog.filter(named: name), descriptor.kind == .animation else {
            let nearest = Suggestion.nearest(to: name, among: offered)
            let isFilter = catalog.filter(named: name) != nil
            log.error(.job(.unknownAnimation(name, isFilter: isFilter, nearest: nearest, offered: offered)), at: span)
            return nil
        }
        var given: [String: SourceSpan] = [:]
        if case .mapping(let mapping) = parameters.content {
            for entry in mapping.entries { given[entry.key] = entry.keySpan }
        }
        let typer = FilterTyper(descriptor: descriptor, pictures: pictures, log: log)
        return typer.filter(parameters, nameSpan: span, path: path).map {
            Animation(invocation: $0, span: span, given: given)
        }
    }

    /// Gives all animations the shared values of the first one.
    private func sharing(_ animations: [Animation]) -> Animations {
        let shared = animations[0].invocation.values.filter { Timeline.sharedParameters.contains($0.key) }
        let rest = animations.dropFirst().map { animation in
            var animation = animation
            var values = animation.invocation.values
            for name in Timeline.sharedParameters {
                if let span = animation.given[name], values[name] != shared[name] {
                    log.error(.job(.sharedByAnimations(name)), at: span)
                }
                values[name] = shared[name]
            }
            if fades(animation.invocation) { log.error(.job(.fadeNotFirst), at: animation.span) }
            animation.invocation = FilterInvocation(filter: animation.invocation.filter, values: values)
            return animation
        }
        return Animations(all: [animations[0]] + rest)
    }
}

extension AnimationReader {
    /// The outputs with the animations behind their own filters.
    ///
    /// - Parameter common: The filters before these. Layers do not count, because they are part of the picture that
    ///   fades.
    func outputs(
        _ outputs: [OutputsReader.Output], showing animations: Animations, after common: [FilterInvocation]
    ) -> [OutputsReader.Output] {
        checkFrames(animations)
        if animations.isOneFrame { checkSingle(outputs) } else { checkNames(outputs, animations) }
        return outputs.map { output in
            var job = output.job
            let first = completed(animations.first, behind: common + job.chain)
            job.animations = [first] + animations.invocations.dropFirst()
            return OutputsReader.Output(job: job, format: output.format, span: output.span)
        }
    }

    /// Adds the number of filters that an animation fades in, if the manifest does not give it.
    private func completed(_ animation: Animation, behind chain: [FilterInvocation]) -> FilterInvocation {
        let invocation = animation.invocation
        guard fades(invocation) else { return invocation }
        let fixed = chain.lastIndex { catalog.filter(named: $0.filter)?.kind == .geometry }
        let count = chain.count - (fixed.map { $0 + 1 } ?? 0)
        if count == 0 { log.error(.job(.nothingToFade(behind: chain.last?.filter)), at: animation.span) }
        if case .integer(let given) = invocation.values[Self.faded] {
            if given > count, count > 0 {
                let behind = fixed.map { chain[$0].filter }
                log.error(.job(.tooManyToFade(given, of: count, behind: behind)), at: animation.span)
            }
            return invocation
        }
        return FilterInvocation(
            filter: invocation.filter, values: invocation.values.merging([Self.faded: .integer(count)]) { $1 })
    }

    private func fades(_ invocation: FilterInvocation) -> Bool {
        catalog.filter(named: invocation.filter)?.parameters.contains { $0.name == Self.faded } ?? false
    }

    /// The parameter for the number of filters that are faded in.
    private static let faded = "filters"

    /// Frames of one animation.
    static let mostFrames = 10_000

    private func checkFrames(_ animations: Animations) {
        guard let count = Timeline(of: animations.invocations)?.count else { return }
        if count > Self.mostFrames {
            log.error(.job(.tooLongAnimation(frames: count, most: Self.mostFrames)), at: animations.first.span)
        } else if case .integer(let frame) = animations.value(FilterInvocation.frame), frame > count {
            log.error(.job(.noSuchFrame(frame, of: count)), at: animations.first.span)
        }
    }

    /// One frame is an ordinary picture.
    private func checkSingle(_ outputs: [OutputsReader.Output]) {
        for output in outputs where output.job.template.namesPages {
            log.error(.job(.frameOfSingle), at: output.span)
        }
    }

    private func checkNames(_ outputs: [OutputsReader.Output], _ animations: Animations) {
        let numbered = outputs.filter(\.job.template.namesPages)
        guard numbered.isEmpty else {
            for output in outputs where !output.job.template.namesPages {
                log.error(.job(.frameInSomeNames), at: output.span)
            }
            if animations.value("hold") != nil { log.error(.job(.holdOfPictures), at: animations.first.span) }
            return
        }
        for output in outputs {
            guard case .known(let format) = output.format, let frameTime = format.frameTime else {
                let known = catalog.formats.filter { $0.canWrite && $0.holdsAnimation }.map(\.name)
                log.error(.job(.holdsNoAnimation(known: known)), at: output.span)
                continue
            }
            if format.isVideo { continue }
            // Players show frames of a hundredth of a second or less for a tenth.
            let most = 1000 / max(2 * frameTime, 11)
            if case .number(let fps) = animations.value("fps"), fps > Double(most) {
                log.error(
                    .job(.tooManyFrames(format: format.name, fps: fps.plain, most: most)), at: animations.first.span)
            }
        }
    }
}
