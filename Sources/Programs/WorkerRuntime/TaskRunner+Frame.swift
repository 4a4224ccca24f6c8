import Catalogs
import Geometry
import ImageFiles
import JobModel
import Kernels
import Raster
import Rendering
import WorkerProtocol

extension TaskRunner {
    func renderFrame(_ task: FrameTask) throws -> [OutputReceipt] {
        var receipts: [Int: OutputReceipt] = [:]
        for input in try open(task.input, task.chain, for: task.outputs.map(\.spec)) {
            let wanted = input.branches.indices.filter { task.outputs[input.branches[$0].index].temporaryPath != nil }
            guard !wanted.isEmpty else { continue }
            let rendering = FrameRendering(
                input: input, passage: RenderRoute(input, memoryBudget: task.frameMemory, pictures: pictures.bytes),
                branches: wanted,
                tileMemory: task.tileMemory, cancellation: toolbox.cancellation)
            let written = try rendering(conversion: conversion(input)) { branch, rows, conversion in
                let output = task.outputs[branch.index]
                return (
                    branch.index,
                    try write(
                        rows, name: output.name, frames: branch.frames, conversion: conversion, output: branch.spec,
                        metadata: try metadata(input.decoder.metadata, for: branch),
                        shrink: input.shrinking?.factor ?? 1, syncs: task.syncs,
                        to: output.temporaryPath ?? "")
                )
            }
            for (index, receipt) in written { receipts[index] = receipt }
        }
        return receipts.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Frames that the chain makes have its own times.
    private func metadata(_ read: ImageMetadata, for branch: OpenedInput.Branch) throws -> ImageMetadata {
        read.showing(branch.whole, as: try format(branch.spec))
    }

    /// From what a chain gives to what a branch's file holds.
    func conversion(_ input: OpenedInput) -> (OpenedInput.Branch, ChainPlan) throws -> OutputConversion {
        let samples = input.decoder.header.sampleFormat
        return { branch, plan in
            OutputConversion(
                from: plan.outputLayout, samples, to: try format(branch.spec), save: branch.spec.save)
        }
    }
}

extension ImageMetadata {
    /// With the times of the frames that a chain makes, if it makes any, as a format can tell them.
    func showing(_ chain: Chain, as format: any ImageFormat) -> ImageMetadata {
        guard let timeline = chain.timeline else { return self }
        var metadata = self
        metadata.animation =
            chain.frames == 1
            ? nil
            : Animation(
                delays: timeline.delays(unit: format.descriptor.frameTime ?? 1), repetitions: timeline.repetitions)
        return metadata
    }
}

extension PixelRect {
    /// The first of so many frames, which lie one below the other.
    func first(of frames: Int) -> PixelRect { PixelRect(x: x, y: y, width: width, height: height / frames) }
}
