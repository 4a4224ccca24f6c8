import Reports

/// Recognises the index of a job's outputs among other files, and finds its job. Both are tried with the bytes as they are, and
/// with the index of a job of that name.
@c(LLVMFuzzerTestOneInput)
public func fuzzAssets(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Input(start, count)
    if AssetIndex.job(in: input.bytes) != nil {
        precondition(AssetIndex.isOurs(input.bytes), "only an index has a job")
    }
    let file = AssetIndex(job: input.text, entries: []).json
    precondition(AssetIndex.isOurs(file), "an index is recognised")
    let job = AssetIndex.job(in: file)
    precondition(job.map { Array($0.utf8) } == Array(input.text.utf8), "the job of an index is found")
    return 0
}
