@testable import Manifests
import Yams

/// Reads a text without any schema. What is accepted must be valid YAML, with the same tree of strings.
@c(LLVMFuzzerTestOneInput)
public func fuzzYAML(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    if case .different(let ours, let yaml) = Agreement(on: Input(start, count).text) {
        preconditionFailure("ours: \(ours); YAML: \(yaml)")
    }
    return 0
}
