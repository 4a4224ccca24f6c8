/// The problems of `--set path=value`, except for those of its value.
package enum OverrideProblem: Hashable, Sendable {
    case noEqualsSign
    case noKey
    case badIndex
    case pathTooLong
    case noValue
    /// `path` is a list, but `key` follows. The items at the indices `having` have the key.
    case keyOfList(key: String, path: String, count: Int, having: [Int])
    case keyOfText(key: String, path: String, text: String)
    case indexOfOther(path: String, found: String)
    case outOfRange(index: String, path: String, count: Int)
    /// There is no list `path`. `meant` is a key that may exist.
    case noList(path: String, meant: String)
}

extension OverrideProblem {
    var words: Words {
        switch self {
        case .noEqualsSign:
            Words("no '=' and value", remedy: "write path=value, such as filters[0].gaussian.radius=14")
        case .noKey:
            Words("expected a key", remedy: "write keys with dots between them: save.quality=80")
        case .badIndex:
            Words("expected an index and ']'", remedy: "write it like filters[0]")
        case .pathTooLong:
            Words("a path of more than \(Override.pathLength) steps", remedy: "no key lies that deep")
        case .noValue:
            Words("no value after '='", remedy: "write one; '' is empty text")
        case .keyOfList(let key, let path, let count, let having):
            Words(
                "'\(path)' is a list and has no key \(key.quoted)",
                remedy: count == 0
                    ? "set the whole list"
                    : "name an item first: "
                        + (having.isEmpty ? [0] : having).map { "\(path)[\($0)].\(key.cut(to: 40))" }.joined(
                            separator: " or "))
        case .keyOfText(let key, let path, let text):
            Words(
                "'\(path)' is \(text.quoted) and has no key \(key.quoted)",
                remedy: Suggestion.nearest(to: key, among: [text]).map { "did you mean '\($0)'?" }
                    ?? "set '\(path)' to another value")
        case .indexOfOther(let path, let found):
            Words("'\(path)' is \(found), not a list", remedy: "leave out the index")
        case .outOfRange(let index, let path, let count):
            Words("'\(path)' has no item \(index)", remedy: items(of: path, count: count))
        case .noList(let path, let meant):
            Words("the job has no list \(path.quoted)", remedy: "did you mean '\(meant)'?")
        }
    }

    private func items(of path: String, count: Int) -> String {
        switch count {
        case 0: "it has no items: set the whole list"
        case 1: "it has 1 item: \(path)[0]"
        default: "it has \(count) items: \(path)[0] to \(path)[\(count - 1)]"
        }
    }
}
