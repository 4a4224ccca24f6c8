import Catalogs
import Geometry
import ImageFiles
import JobModel
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
                input: input, passage: Passage(input, memoryBudget: task.frameMemory, pictures: pictures.bytes),
                branches: wanted,
                tileMemory: task.tileMemory, cancellation: toolbox.cancellation)
            let written = try rendering(conversion: conversion(input)) { branch, rows, conversion in
                let output = task.outputs[branch.index]
                return (
                    branch.index,
                    try write(
                        rows, name: output.name, frames: branch.frames, conversion: conversion, output: branch.spec,
                        metadata: input.decoder.metadata, shrink: input.shrinking?.factor ?? 1, syncs: task.syncs,
                        to: output.temporaryPath ?? "")
                )
            }
            for (index, receipt) in written { receipts[index] = receipt }
        }
        return receipts.sorted { $0.key < $1.key }.map(\.value)
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
