import Terminals

/// Reads a picture that a worker has made for a terminal, and writes the escape sequences that show it.
@c(LLVMFuzzerTestOneInput)
public func fuzzPixmap(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    let (width, height) = (input.choice(64) + 1, input.choice(64) + 1)
    guard let pixmap = Pixmap(file: input.bytes) else { return 0 }
    let fitted = pixmap.fitted(width: width, height: height)
    precondition(fitted.width <= width && fitted.height <= height, "a picture fits its window")
    let sequence = TerminalPicture.sixel(fitted)
    precondition(sequence.hasPrefix("\u{1b}P") && sequence.hasSuffix("\u{1b}\\"), "the sequence is complete")
    precondition(
        sequence.utf8.dropFirst(2).dropLast(2).allSatisfy { (0x20..<0x7f).contains($0) },
        "nothing else is for the terminal")
    return 0
}
