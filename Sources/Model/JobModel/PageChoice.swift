/// Which of a file's pages are read.
public enum PageChoice: Hashable, Sendable, Codable {
    /// The first page, or the one that the file names as its picture.
    case first
    /// One page, from 0.
    case page(Int)
    /// All frames of an animation, one after the other; the first page of any other file.
    case animation
    /// One frame, from 0, of the animation that the job makes of the first page.
    case frame(Int)

    /// The same choice whatever its number.
    public var unnumbered: PageChoice {
        switch self {
        case .page: .page(0)
        case .frame: .frame(0)
        case .first, .animation: self
        }
    }

    /// The same choice with another number. The pages behind the first one of a file are chosen by their numbers.
    public func numbered(_ number: Int) -> PageChoice {
        switch self {
        case .page: .page(number)
        case .frame: .frame(number)
        case .first: number > 0 ? .page(number) : .first
        case .animation: self
        }
    }

    /// 0 where there is none.
    public var number: Int {
        switch self {
        case .page(let number), .frame(let number): number
        case .first, .animation: 0
        }
    }
}
