/// Numbers of manifests: decimal digits, with an optional sign, fraction and exponent.
///
/// Forms that other languages read in different ways (`.5`, `1_000`, `0x10`, `010`, `nan`) are refused, with a
/// proposal.
enum DecimalNumber {
    /// The number, or the reason why the text is none.
    static func number(_ text: String) -> Result<Double, NumberError> {
        guard let parts = Parts(text) else { return .failure(fault(of: text)) }
        if let fault = parts.fault { return .failure(fault) }
        guard let value = Double(text), value.isFinite else { return .failure(.notFinite) }
        return .success(value == 0 ? 0 : value)  // no negative zero: it would make equal jobs differ
    }

    /// A whole number without fraction or exponent.
    static func integer(_ text: String) -> Result<Int, NumberError> {
        switch number(text) {
        case .failure(.comma):
            guard let meant = withPoint(text).flatMap(Double.init) else { return .failure(.comma) }
            return .failure(.notWhole(nearest: wholeNumbers(around: meant)))
        case .failure(let fault): return .failure(fault)
        case .success(let value):
            if let integer = Int(text) { return .success(integer) }
            if Parts(text)?.isInteger == true { return .failure(.noInteger(isNegative: value < 0)) }
            return .failure(.notWhole(nearest: wholeNumbers(around: value)))
        }
    }

    /// The number itself if it is whole, or else its neighbours. Empty if no integer can hold them.
    static func wholeNumbers(around value: Double) -> [String] {
        let neighbours = [value.rounded(.down), value.rounded(.up)].compactMap { Int(exactly: $0) }
        return neighbours.first == neighbours.last ? neighbours.prefix(1).map(String.init) : neighbours.map(String.init)
    }

    /// `2.5` for `2,5`, also with a unit behind it. Nil for other texts.
    static func withPoint(_ text: String) -> String? {
        let halves = text.split(separator: ",", omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].contains(".") else { return nil }
        let proposed = "\(halves[0]).\(halves[1].drop { $0 == " " })"
        let (number, suffix) = split(proposed)
        guard case .success = Self.number(String(number)), suffix.allSatisfy({ $0.isLetter || $0 == "%" }) else {
            return nil
        }
        return proposed
    }

    /// Splits a text into the number at its start and the rest.
    static func split(_ text: String) -> (number: Substring, suffix: String) {
        let number = text.prefix { "+-.0123456789".contains($0) }
        return (number, String(text[number.endIndex...]))
    }

    /// The parts of a text that has the form of a number.
    private struct Parts {
        let sign: Substring
        let whole: Substring
        let fraction: Substring?
        let exponent: Substring?

        /// Nil if the text has another form. Digits may be missing on one side of the point.
        init?(_ text: String) {
            let (mantissa, exponent) = Self.cut(text[...], at: ["e", "E"])
            let sign = mantissa.prefix(while: { $0 == "+" || $0 == "-" })
            let (whole, fraction) = Self.cut(mantissa[sign.endIndex...], at: ["."])
            let digits = exponent.map { $0.first == "+" || $0.first == "-" ? $0.dropFirst() : $0 }
            guard sign.count <= 1, Self.areDigits(whole), fraction.map(Self.areDigits) ?? true,
                digits.map({ !$0.isEmpty && Self.areDigits($0) }) ?? true, !whole.isEmpty || fraction?.isEmpty == false
            else { return nil }
            self.sign = sign
            self.whole = whole
            self.fraction = fraction
            self.exponent = exponent
        }

        var isInteger: Bool { fraction == nil && exponent == nil }

        /// Why a number of this form is refused.
        var fault: NumberError? {
            if whole.isEmpty || fraction?.isEmpty == true { return .missingDigit(written: written) }
            if whole.count > 1, whole.first == "0" { return .leadingZero(written: written) }
            return nil
        }

        /// The same number in the right form.
        private var written: String {
            let digits = whole.drop { $0 == "0" }
            let decimals = fraction.map { $0.isEmpty ? "" : ".\($0)" } ?? ""
            return "\(sign)\(digits.isEmpty ? "0" : digits)\(decimals)" + (exponent.map { "e\($0)" } ?? "")
        }

        private static func cut(_ text: Substring, at marks: Set<Character>) -> (Substring, Substring?) {
            guard let index = text.firstIndex(where: marks.contains) else { return (text, nil) }
            return (text[..<index], text[text.index(after: index)...])
        }

        private static func areDigits(_ text: Substring) -> Bool {
            text.allSatisfy { $0.isASCII && $0.isNumber }
        }
    }

    /// Why a text that is no number may look like one.
    private static func fault(of text: String) -> NumberError {
        let lower = text.lowercased()
        let word = lower.drop { "+-.".contains($0) }
        if ["nan", "inf", "infinity"].contains(word) { return .notFinite }
        if ["0x", "0o", "0b"].contains(where: word.hasPrefix) { return .hexadecimal }
        if Parts(lower.filter { $0 != "_" }) != nil { return .underscore }
        if Parts(lower.filter { $0 != "," }) != nil { return .comma }
        let (number, suffix) = split(text)
        let isUnit = suffix.lowercased() != "e" && !suffix.contains(where: \.isNumber)
        guard isUnit, Parts(String(number)).map({ $0.fault == nil }) ?? false, let value = Double(number) else {
            return .notDecimal
        }
        let unit = String(suffix.drop { $0 == " " })
        return .hasUnit(GivenUnit(number: value, written: String(number), given: unit))
    }
}
