import Catalogs
import JobModel
import Manifests

/// What libFuzzer calls: reads the input as a manifest, and what follows its first zero byte as a `--set` argument.
///
/// A trap is a finding. `Scripts/fuzz` builds and runs this.
@c(LLVMFuzzerTestOneInput)
public func fuzzManifest(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let parts = input.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    let overrides = parts.dropFirst().map { Override(String(decoding: $0, as: UTF8.self)) }
    let result = JobReader.read(
        bytes: Array(parts[0]), path: "job.yaml", realPath: "/jobs/job.yaml", catalog: .example,
        overrides: overrides)
    check(result)
    return 0
}

/// What holds for every reading.
private func check(_ result: ReadResult) {
    let hasError = result.diagnostics.contains { $0.severity == .error }
    precondition(hasError == (result.job == nil), "a job is there exactly when there is no error")
    for diagnostic in result.diagnostics {
        check(diagnostic.span, in: result.sources[diagnostic.span.source])
        precondition(!diagnostic.problem.words.message.isEmpty, "a problem has words")
        precondition(!diagnostic.rendered(in: result.sources).isEmpty, "a problem can be shown")
    }
    let places = result.diagnostics.filter { if case .more = $0.problem { false } else { true } }.map(\.span)
    let sorted = zip(places, places.dropFirst()).allSatisfy {
        ($0.source, $0.start) <= ($1.source, $1.start)
    }
    precondition(sorted, "diagnostics are in the order of the text")
}

private func check(_ span: SourceSpan, in text: SourceText) {
    precondition((1...text.lines.count).contains(span.start.line), "a problem is on a line of the text")
    let line = text.line(span.start.line)
    precondition(span.start.column >= 1 && span.length >= 0, "a problem has a place")
    precondition(span.start.column - 1 + span.length <= line.count, "a problem is within its line")
}
