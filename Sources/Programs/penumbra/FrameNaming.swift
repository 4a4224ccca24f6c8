import Coordination
import Geometry
import JobModel
import JobStorage
import Planning
import Scheduling
import WorkerProtocol

/// Names the outputs of a job's frames, and decides what is to be done with each.
struct FrameNaming {
    let preparation: JobPreparation
    let plan: JobPlan
    let variants: FrameVariants
    let freshness: Freshness

    func name(_ prepared: inout PreparedJob) async throws {
        let stamps = plan.inputStamps()
        var named = Named(frames: plan.frames, stamps: stamps)
        if plan.job.needsProbe { try await survey(&prepared, &named) }
        let frames = outputs(of: named, &prepared)
        let outputStamps = self.stamps(of: frames)
        try check(frames, outputStamps, inputStamps: stamps)
        prepared.targets = zip(frames, outputStamps).map { frame, stamps in target(frame, stamps) }
    }

    /// Frames that are to be named.
    private struct Named {
        var frames: [PlannedFrame]
        var stamps: [FileStamp?]
    }

    /// A frame with its outputs' paths.
    private struct NamedFrame {
        let frame: PlannedFrame
        let stamp: FileStamp?
        let outputs: [String]
        let probe: ProbeReceipt?
        /// It failed before, and nothing has changed: nobody needs its names.
        var isBroken = false
    }

    /// Probes what has to be probed for its names: not what is broken, nor what the ledger knows by name.
    private func survey(_ prepared: inout PreparedJob, _ named: inout Named) async throws {
        let unknown = zip(named.frames, named.stamps).filter { frame, stamp in
            freshness.isStillBroken(files(frame, stamp, outputs: [])) == nil && knownNames(frame, stamp) == nil
        }.map(\.0)
        try await preparation.survey(&prepared, unknown) { [variants] in variants[$0] }
        guard plan.job.rendersPages else { return }
        // Pages differ in size; the first ones are known.
        var pages = Named(frames: [], stamps: [])
        for (frame, stamp) in zip(named.frames, named.stamps) {
            let count = if case .success(let probe) = prepared.findings[frame.id] { probe.pages } else { 1 }
            pages.frames += (0..<count).map { $0 == 0 ? frame : frame.page($0) }
            pages.stamps += Array(repeating: stamp, count: count)
        }
        named = pages
        try await preparation.survey(&prepared, named.frames.filter { $0.page > 0 }) { [variants] in variants[$0] }
    }

    /// The names that an unchanged frame's outputs were published by, where they tell no date and no place in the order.
    private func knownNames(_ frame: PlannedFrame, _ stamp: FileStamp?) -> [String]? {
        guard !plan.job.rendersPages, !plan.job.namesOrder, let stamp else { return nil }
        return freshness.knownNames(
            input: frame.input.path, stamp: stamp, recipes: recipes(of: frame))
    }

    private func outputs(of named: Named, _ prepared: inout PreparedJob) -> [NamedFrame] {
        var result: [NamedFrame] = []
        result.reserveCapacity(named.frames.count)
        for (frame, stamp) in zip(named.frames, named.stamps) {
            switch prepared.findings[frame.id] {
            case .success(let probe):
                let outputs = plan.outputs(of: frame, measures: probe.outputs.map(OutputNaming.Measures.init))
                result.append(NamedFrame(frame: frame, stamp: stamp, outputs: outputs, probe: probe))
            case .failure(let failure):
                prepared.failed.append(
                    FrameReport(
                        index: frame.index, input: frame.input.path, inputBytes: frame.input.bytes, outputs: [],
                        state: .failed(failure)))
                prepared.brokenFiles.append((files(frame, stamp, outputs: []), failure))
            case nil where !plan.job.needsProbe:
                let outputs = plan.outputs(of: frame, measures: nil)
                result.append(NamedFrame(frame: frame, stamp: stamp, outputs: outputs, probe: nil))
            case nil:
                let names = knownNames(frame, stamp)
                result.append(
                    NamedFrame(frame: frame, stamp: stamp, outputs: names ?? [], probe: nil, isBroken: names == nil))
            }
        }
        return result
    }

    /// Of each frame's outputs.
    private func stamps(of frames: [NamedFrame]) -> [[FileStamp?]] {
        let flat = OutputPlace.stamps(
            frames.flatMap { frame in
                zip(frame.outputs, frame.frame.formats).map { ($0, plan.folderFormats.contains($1)) }
            })
        var rest = flat[...]
        return frames.map { frame in
            defer { rest = rest.dropFirst(frame.outputs.count) }
            return Array(rest.prefix(frame.outputs.count))
        }
    }

    private func check(_ frames: [NamedFrame], _ stamps: [[FileStamp?]], inputStamps: [FileStamp?]) throws {
        var outputs: [PlannedOutput] = []
        for (frame, stamps) in zip(frames, stamps) {
            for (path, stamp) in zip(frame.outputs, stamps) {
                outputs.append(PlannedOutput(frame: frame.frame, path: path, stamp: stamp))
            }
        }
        do {
            try plan.check(outputs, inputStamps: inputStamps)
        } catch {
            throw JobPreparation.refusal(error, plan.job)
        }
    }

    private func target(_ frame: NamedFrame, _ stamps: [FileStamp?]) -> Target {
        let files = files(frame.frame, frame.stamp, outputs: zip(frame.outputs, stamps).map { ($0, $1) })
        return Target(
            frame: frame.frame, outputs: frame.outputs, probe: frame.probe, variant: variants[frame.frame],
            files: files, verdict: freshness.verdict(of: files))
    }

    private func files(_ frame: PlannedFrame, _ stamp: FileStamp?, outputs: [(String, FileStamp?)]) -> FrameFiles {
        let recipes = recipes(of: frame)
        let known = outputs.isEmpty ? recipes.map { _ in ("", nil) } : outputs
        return FrameFiles(
            input: frame.input.path, inputBytes: frame.input.bytes, page: frame.page, stamp: stamp,
            outputs: zip(zip(known, recipes), frame.formats).map { output, format in
                let ((path, stamp), recipe) = output
                let isOutput = stamp != nil && (!plan.folderFormats.contains(format) || OutputPlace.exists(path))
                return FrameFiles.Output(path: path, stamp: stamp, isOutput: isOutput, recipe: recipe)
            })
    }

    private func recipes(of frame: PlannedFrame) -> [RecipeKey] {
        variants.recipes(of: frame, in: freshness.book)
    }
}

extension OutputNaming.Measures {
    init(_ geometry: OutputGeometry) {
        self.init(
            width: geometry.extent.width, height: geometry.extent.height, contentDigest: geometry.contentDigest)
    }
}
