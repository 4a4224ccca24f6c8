import Catalogs
import ImageFiles
import JobModel
import Rendering
import WorkerProtocol

/// An input as some outputs of a frame need it, and the chains that go over it, matched: what a decoder shrinks, the
/// first filter need not.
struct OpenedInput {
    /// One of the outputs.
    struct Branch {
        /// Its place among the frame's outputs.
        let index: Int
        let spec: OutputSpec
        /// What comes after the common chain.
        let own: Chain
        /// From the decoder to the encoder.
        let whole: Chain
        /// How many frames the input is read with.
        let inputFrames: Int
        /// How many of them the output has, or the chain makes.
        var frames: Int { inputFrames * whole.frames }
    }

    let decoder: ImageDecoder
    /// What the branches have in common.
    let chain: Chain
    let shrinking: Shrinking?
    /// Which frame of the input's animation is read alone, from 0; nil of anything else.
    let frame: Int?
    let branches: [Branch]
}

extension TaskRunner {
    /// Opens the input of a task, once for each way of decoding that its outputs need: outputs that keep a profile and
    /// those that lose it need other colours, only some hold animations, and only some are dithered. Nearly always that
    /// is once for all.
    func open(
        _ input: InputSpec, _ invocations: [FilterInvocation], for outputs: [OutputSpec]
    ) throws -> [OpenedInput] {
        let asked = try decoder(input, input.color)
        let header = asked.header
        var ways: [DecodingWay] = []
        for (index, output) in outputs.enumerated() {
            let format = try format(output)
            try VipsRuntime.prepare(format)
            let whole = try chain(invocations + output.chain, for: input)
            let color = format.colorPolicy(
                for: header, asked: input.color, save: output.save,
                output: whole.plan(input: header.rect, layout: header.layout).outputLayout)
            let frames = format.descriptor.holdsAnimation ? header.frames : 1
            let isFine = output.save.dither && header.sampleFormat == .u8
            let alike = ways.firstIndex { $0.color == color && $0.frames == frames && $0.isFine == isFine }
            if let alike {
                ways[alike].outputs.append(index)
            } else {
                ways.append(DecodingWay(color: color, frames: frames, isFine: isFine, outputs: [index]))
            }
        }
        return try ways.map { way in
            let isAsAsked = way.color == input.color && way.frames == header.frames && !way.isFine
            let decoder = isAsAsked ? asked : try self.decoder(input, way)
            return try matched(decoder, input, way, invocations, outputs)
        }
    }

    /// What outputs that share a decoder have in common.
    struct DecodingWay {
        let color: ColorPolicy
        let frames: Int
        /// 8-bit samples become 16-bit ones.
        let isFine: Bool
        var outputs: [Int]
        var shrink = 1
    }

    private func matched(
        _ decoder: ImageDecoder, _ input: InputSpec, _ way: DecodingWay, _ invocations: [FilterInvocation],
        _ outputs: [OutputSpec]
    ) throws -> OpenedInput {
        let wholes = try way.outputs.map { try chain(invocations + outputs[$0].chain, for: input) }
        let (width, height) = (decoder.header.width, decoder.header.height)
        var way = way
        // The largest picture that any output needs serves all.
        let suitable =
            decoder.header.canShrink ? wholes.map { $0.shrinkOnLoad(width: width, height: height) }.min() ?? 1 : 1
        // What renders an output again decodes as was done before, whatever other outputs there are now.
        way.shrink = decoder.header.canShrink ? input.shrink ?? suitable : 1
        let shrinking = way.shrink > 1 ? Shrinking(factor: way.shrink, width: width, height: height) : nil
        let delivering = shrinking == nil ? decoder : try self.decoder(input, way)
        let curve = delivering.curve
        let frame = try frame(of: input, decoder.header)
        let common = try chain(invocations, for: input).over(curve).rendering(frame)
        let branches = try zip(way.outputs, wholes).map { index, whole in
            let own = try chain(outputs[index].chain, for: input).over(curve).rendering(frame)
            return OpenedInput.Branch(
                index: index, spec: outputs[index], own: common.isIdentity ? own.after(shrinking) : own,
                whole: whole.over(curve).rendering(frame).after(shrinking), inputFrames: way.frames)
        }
        return OpenedInput(
            decoder: delivering, chain: common.after(shrinking), shrinking: shrinking, frame: frame,
            branches: branches)
    }

    /// A page of a format that holds animations is a frame. Pages of documents are pictures of their own.
    private func frame(of input: InputSpec, _ header: ImageHeader) throws -> Int? {
        guard case .page(let number) = input.pages,
            try format(named: header.formatName).descriptor.holdsAnimation
        else { return nil }
        return number
    }

    private func decoder(_ input: InputSpec, _ way: DecodingWay) throws -> ImageDecoder {
        // Of a still picture both are the same page.
        let pages = input.pages == .animation && way.frames == 1 ? .first : input.pages
        return try decoder(input, way.color, shrink: way.shrink, pages: pages, isFine: way.isFine)
    }
}

extension Chain {
    /// The same chain for a frame of the input's animation; for nil, the same.
    func rendering(_ frame: Int?) -> Chain { frame.map { rendering(frame: $0) } ?? self }

    /// The same chain for an input that was decoded so.
    func after(_ shrinking: Shrinking?) -> Chain {
        guard let shrinking else { return self }
        return afterShrinking(by: shrinking.factor, width: shrinking.width, height: shrinking.height)
    }
}
