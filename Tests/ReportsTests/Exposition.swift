/// Prometheus' text format, read strictly: help, type, then samples; no family and no sample twice.
struct Exposition {
    struct Problem: Error {
        let line: Substring
    }

    struct Family {
        let name: String
        var samples: [(labels: String, value: Double)] = []
    }

    private(set) var families: [Family] = []

    /// Samples by name and labels, as written.
    var values: [String: Double] {
        var values: [String: Double] = [:]
        for family in families { for sample in family.samples { values[family.name + sample.labels] = sample.value } }
        return values
    }

    init(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard bytes.last == UInt8(ascii: "\n") else { throw Problem(line: "no newline at the end") }
        var helped: String?
        for line in bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let line = Substring(decoding: line, as: UTF8.self)
            if let match = line.wholeMatch(of: /# HELP ([a-z_]+) [A-Z][^\\]*\./) {
                helped = String(match.1)
            } else if let match = line.wholeMatch(of: /# TYPE ([a-z_]+) gauge/) {
                let name = String(match.1)
                guard helped == name, !families.contains(where: { $0.name == name }) else { throw Problem(line: line) }
                families.append(Family(name: name))
            } else {
                try addSample(line)
            }
        }
        guard families.allSatisfy({ !$0.samples.isEmpty }) else { throw Problem(line: "a family without samples") }
    }

    private mutating func addSample(_ line: Substring) throws {
        let value = /"(?:[^"\\]|\\["\\n])*"/.matchingSemantics(.unicodeScalar)
        let sample = /([a-z_]+)(\{job="(?:[^"\\\n]|\\["\\n])*"(?:,state="[a-z_]+"|,cause="[a-z ]+")?\}) ([0-9.e+]+)/
            .matchingSemantics(.unicodeScalar)
        guard line.contains(value), let match = line.wholeMatch(of: sample), families.last?.name == String(match.1),
            let number = Double(match.3), values[String(match.1 + match.2)] == nil
        else { throw Problem(line: line) }
        families[families.count - 1].samples.append((String(match.2), number))
    }
}
