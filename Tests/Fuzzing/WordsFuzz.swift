import JobModel

/// Makes foreign text visible. No control character may be left, and text that is visible stays the same.
@c(LLVMFuzzerTestOneInput)
public func fuzzWords(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = Input(start, count).text
    for (shown, allowed) in [
        (VisibleText.line(text), ""), (VisibleText.lineWithoutJoiners(text), ""), (VisibleText.lines(text), "\n\t"),
        (VisibleText.message(text), "\n"), (VisibleText.json(text), "\n"),
    ] {
        precondition(
            shown.unicodeScalars.allSatisfy { !VisibleText.isUnsafe($0) || allowed.unicodeScalars.contains($0) },
            "no invisible character is left")
    }
    let line = VisibleText.line(text)
    precondition(VisibleText.line(line) == line, "text that is visible stays the same")
    return 0
}
