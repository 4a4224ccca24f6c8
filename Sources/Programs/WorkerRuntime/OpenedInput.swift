import Catalogs
import ImageFiles
import JobModel
import Rendering
import WorkerProtocol

/// An input and the chain that goes over it, matched: what a decoder shrinks, the chain's first filter need not.
struct OpenedInput {
    let decoder: ImageDecoder
    let chain: Chain
    let shrinking: Shrinking?
}

extension TaskRunner {
    /// Opens the input of a task.
    func open(_ input: InputSpec, _ invocations: [FilterInvocation], for output: OutputSpec) throws -> OpenedInput {
        let chain = try chain(invocations)
        let decoder = try decoder(input, for: output)
        let header = decoder.header
        let factor = header.canShrink ? chain.shrinkOnLoad(width: header.width, height: header.height) : 1
        guard factor > 1 else { return OpenedInput(decoder: decoder, chain: chain, shrinking: nil) }
        let shrinking = Shrinking(factor: factor, width: header.width, height: header.height)
        return OpenedInput(
            decoder: try self.decoder(input, decoder.color, shrink: factor), chain: chain.after(shrinking),
            shrinking: shrinking)
    }
}

extension Chain {
    /// The same chain for an input that was decoded so.
    func after(_ shrinking: Shrinking?) -> Chain {
        guard let shrinking else { return self }
        return afterShrinking(by: shrinking.factor, width: shrinking.width, height: shrinking.height)
    }
}
