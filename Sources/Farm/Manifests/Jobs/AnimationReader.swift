import Catalogs
import JobModel

/// Reads `animate:`, which makes frames of each picture after its filters: `{crossfade: {duration: 0.2}}`.
struct AnimationReader {
    let catalog: Catalog
    let pictures: PictureLookup
    let log: DiagnosticLog

    /// An animation, and the position that messages about it point to.
    struct Animation {
        let invocation: FilterInvocation
        let span: SourceSpan

        /// The manifest names a frame.
        var isOneFrame: Bool {
            switch invocation.values[FilterInvocation.frame] {
            case .integer, .word("last"): true
            default: false
            }
        }
    }

    var animation: ValueReader<Animation> {
        ValueReader { node, name, log in
            guard !offered.isEmpty else {
                log.error(.job(.noAnimationsHere), at: node.span)
                return nil
            }
            switch node.content {
            case .scalar(let scalar):
                let parameters = SyntaxNode(.mapping(.init(entries: [])), span: node.span)
                return animation(scalar.text, at: node.span, parameters, path: name)
            case .mapping(let mapping):
                guard let entry = mapping.entries.first, mapping.entries.count == 1 else {
                    if mapping.isComplete { log.error(.job(.notOneAnimation(offered: offered)), at: node.span) }
                    return nil
                }
                return animation(entry.key, at: entry.keySpan, entry.value, path: name)
            case .sequence:
                log.error(.job(.notOneAnimation(offered: offered)), at: node.span)
                return nil
            case .unreadable:
                return nil
            }
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
        let typer = FilterTyper(descriptor: descriptor, pictures: pictures, log: log)
        return typer.filter(parameters, nameSpan: span, path: "\(path).\(name)").map {
            Animation(invocation: $0, span: span)
        }
    }
}

extension AnimationReader {
    /// The outputs with the animation behind their own filters.
    ///
    /// - Parameter common: The filters before these. Layers do not count, because they are part of the picture that
    ///   fades.
    func outputs(
        _ outputs: [OutputsReader.Output], showing animation: Animation, after common: [FilterInvocation]
    ) -> [OutputsReader.Output] {
        checkLength(animation)
        if animation.isOneFrame { checkSingle(outputs) } else { checkNames(outputs, animation) }
        return outputs.map { output in
            var job = output.job
            job.animation = completed(animation, behind: common + job.chain)
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

    private func checkLength(_ animation: Animation) {
        guard case .number(let duration) = animation.invocation.values["duration"],
            case .number(let fps) = animation.invocation.values["fps"]
        else { return }
        let count = Int((duration * fps).rounded()) + 1
        if count > Self.mostFrames {
            log.error(.job(.tooLongAnimation(frames: count, most: Self.mostFrames)), at: animation.span)
        }
    }

    /// One frame is an ordinary picture.
    private func checkSingle(_ outputs: [OutputsReader.Output]) {
        for output in outputs where output.job.template.namesPages {
            log.error(.job(.frameOfSingle), at: output.span)
        }
    }

    private func checkNames(_ outputs: [OutputsReader.Output], _ animation: Animation) {
        let numbered = outputs.filter(\.job.template.namesPages)
        guard numbered.isEmpty else {
            for output in outputs where !output.job.template.namesPages {
                log.error(.job(.frameInSomeNames), at: output.span)
            }
            return
        }
        for output in outputs {
            guard case .known(let format) = output.format, let frameTime = format.frameTime else {
                let known = catalog.formats.filter { $0.canWrite && $0.holdsAnimation }.map(\.name)
                log.error(.job(.holdsNoAnimation(known: known)), at: output.span)
                continue
            }
            // Players show frames of a hundredth of a second or less for a tenth.
            let most = 1000 / max(2 * frameTime, 11)
            if case .number(let fps) = animation.invocation.values["fps"], fps > Double(most) {
                log.error(.job(.tooManyFrames(format: format.name, fps: fps.plain, most: most)), at: animation.span)
            }
        }
    }
}
