/// Parameters in words, for lists, help topics and the reference.
package enum ParameterWords {
    /// The values that a parameter takes: `0–1000`, `crop | expand`.
    package static func takes(_ kind: ParameterKind) -> String {
        switch kind {
        case .number(let low, let high): "\(number(low))–\(number(high))"
        case .numberOrPair(let low, let high): "\(number(low))–\(number(high)), or {x, y}"
        case .integer(let low, let high): "whole \(low)–\(high)"
        case .integerOrWord(let low, let high, let words): "whole \(low)–\(high), or \(words.joined(separator: " | "))"
        case .numberOrWord(let low, let high, let words):
            "\(number(low))–\(number(high)), or \(words.joined(separator: " | "))"
        case .length, .distance: "px or %"
        case .path: "[{x, y}, {x, y}, …], px or %"
        case .numbers(let ranges):
            "{" + ranges.map { "\($0.name): \(number($0.minimum))–\(number($0.maximum))" }.joined(separator: ", ") + "}"
        case .size: "320, 320x, x240, 320x240, 50%"
        case .choice(let words): words.joined(separator: " | ")
        case .boolean: "true | false"
        case .text: "text"
        case .address: "an address with {fields}"
        case .regions: "{x, y, width, height, corner_radius}, px or %; a list of them; {from: a file}"
        case .color: "#rrggbb, white, black, transparent"
        case .picture, .layer: "a picture's path"
        case .table: "the path of a .cube file"
        case .font: "the path of a .ttf or .otf file"
        case .template: "text with fields"
        case .command(let programs):
            "[program, argument, …]"
                + (programs.isEmpty ? "" : ", of the programs \(programs.map(\.name).joined(separator: " | "))")
        }
    }

    /// A value, short enough for a cell of a table. Values of several parts are `{…}`.
    package static func text(_ value: ParameterValue) -> String {
        switch value {
        case .number(let value): number(value)
        case .pair(let x, let y): "{x: \(number(x)), y: \(number(y))}"
        case .integer(let value): String(value)
        case .boolean(let value): value ? "true" : "false"
        case .word(let word): word
        case .text(let text): text
        case .region, .regionFile: "{…}"
        case .regions: "[…]"
        case .length(.pixels(let value)): number(value)
        case .length(.percent(let value)): "\(number(value)) %"
        case .size(let size): "\(size)"
        case .path: "[…]"
        case .numbers: "{…}"
        case .color(let red, let green, let blue, let alpha): color(red, green, blue, alpha)
        case .picture(let picture): picture.path
        case .pictureTemplate(let template): template.path
        case .command: "[…]"
        case .template(let template): template.written
        }
    }

    /// What a parameter does, as whole sentences.
    ///
    /// - Parameter isKeyOfJob: whether the parameter is shown as the key of the job that it also is.
    package static func sentence(of parameter: ParameterDescriptor, isKeyOfJob: Bool = false) -> String {
        let synonyms = parameter.synonyms.map { synonym in
            synonym.scale == 1
                ? " It may also be written '\(synonym.name)'."
                : " '\(synonym.name)' is \(number(1 / synonym.scale)) times this value."
        }
        let shared = parameter.isShared && !isKeyOfJob ? " It is also a key of the job, for all its filters." : ""
        return sentence(parameter.summary) + synonyms.joined() + shared
    }

    /// A summary as a sentence: with a capital, and a full stop.
    ///
    /// Plugins of others may have summaries that are fragments.
    package static func sentence(_ summary: String) -> String {
        guard let first = summary.unicodeScalars.first else { return "" }
        let capital = String(first).uppercased() + String(String.UnicodeScalarView(summary.unicodeScalars.dropFirst()))
        return [".", "!", "?"].contains(where: capital.hasSuffix) ? capital : capital + "."
    }

    /// A rule between parameters, without its full stop.
    package static func rule(_ rule: ParameterRule) -> String {
        switch rule {
        case .implies(let parameter, let value, let other, let required):
            "\(parameter): \(value) implies \(other): \(required)"
        case .excludes(let parameter, let value, let other):
            "\(parameter): \(value) cannot be combined with \(other)"
        case .replaces(let parameter, let others):
            "\(parameter) takes the place of \(others.joined(separator: ", "))"
        case .needs(let parameter, let other, let words):
            words.isEmpty
                ? "\(parameter) has no effect where \(other) is a word"
                : "\(parameter) has an effect only with \(other): \(words.joined(separator: " | "))"
        case .belongs(let parameter, let others):
            "\(parameter) needs \(others.joined(separator: " or "))"
        case .below(let parameter, let other):
            "\(parameter) is smaller than \(other)"
        case .idleAtMultiples(let parameter, let other, let step):
            "\(parameter) has no effect where \(other) is a multiple of \(number(step))"
        }
    }

    /// `#rrggbb`, with the alpha behind it if the colour is not opaque.
    private static func color(_ red: Int, _ green: Int, _ blue: Int, _ alpha: Int) -> String {
        let digits = (alpha == 255 ? [red, green, blue] : [red, green, blue, alpha])
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return "#" + digits.joined()
    }

    static func number(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e15 ? String(Int(value)) : String(value)
    }
}
