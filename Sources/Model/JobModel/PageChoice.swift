/// Which of a file's pages are read.
public enum PageChoice: Hashable, Sendable, Codable {
    /// The first page, or the one that the file names as its picture.
    case first
    /// One page, from 0.
    case page(Int)
    /// All frames of an animation, one after the other; the first page of any other file.
    case animation
}
