import FoundationEssentials
import JobModel

/// What a `.penumbra-index` says of one job.
struct IndexContents {
    /// By path below the index's folder; what came later counts.
    private(set) var outputs: [PathKey: IndexLine.Output] = [:]
    /// The texts of the outputs' recipes, which their numbers are places in.
    private(set) var recipes: [String] = []
    /// Lines that belong to other jobs, as they are.
    private(set) var others: [Data] = []

    private var places: [String: Int] = [:]
    /// The file's numbers of recipes, by their places.
    private var numbers: [Int: Int] = [:]
    private var isOurs = false

    /// Lines that cannot be read are left out: a run that was killed may have torn the last one.
    init(_ data: Data, of job: JobSpec) {
        let decoder = JSONDecoder()
        for line in data.split(separator: UInt8(ascii: "\n")) {
            guard let entry = try? decoder.decode(IndexLine.self, from: line) else {
                // Perhaps a newer version's.
                if !isOurs { others.append(Data(line)) }
                continue
            }
            if case .job(let name, let manifest) = entry {
                isOurs = name == job.name && PathKey(manifest) == PathKey(job.manifestPath)
                numbers = [:]
            }
            if isOurs { add(entry) } else { others.append(Data(line)) }
        }
    }

    private mutating func add(_ line: IndexLine) {
        switch line {
        case .job: break
        case .recipe(let number, let text): numbers[number] = place(of: text)
        case .output(let output):
            if let place = numbers[output.recipe] { outputs[PathKey(output.path)] = output.with(place) }
        case .gone(let path): outputs[PathKey(path)] = nil
        }
    }

    private mutating func place(of text: String) -> Int {
        if let place = places[text] { return place }
        recipes.append(text)
        places[text] = recipes.count - 1
        return recipes.count - 1
    }
}

extension IndexLine.Output {
    fileprivate func with(_ recipe: Int) -> IndexLine.Output {
        IndexLine.Output(
            path: path, input: input, page: page, part: part, source: source, recipe: recipe, file: file,
            width: width, height: height, adopted: adopted)
    }
}
