import Glibc

/// The arithmetic of `lseek`.
enum FilePosition {
    /// Nil when the result would lie before the file's start, or `whence` is none of the three.
    static func target(_ offset: Int, from whence: Int32, position: Int, size: Int) -> Int? {
        let origin: Int
        switch whence {
        case SEEK_SET: origin = 0
        case SEEK_CUR: origin = position
        case SEEK_END: origin = size
        default: return nil
        }
        let (target, overflows) = origin.addingReportingOverflow(offset)
        return overflows || target < 0 ? nil : target
    }
}
