import Exports
import Foundation
import Testing
import Yams

@Suite struct OpenJobTemplateTests {
    @Test func `a job beside its template`() throws {
        var job = ExportedJob.make()
        job.architecture = "x86_64"
        job.configFile = "/etc/penumbra/farm.yaml"
        job.overrides = ["filters[0].gaussian.radius=14"]
        job.files = ["/farm/jobs/mask.png"]
        let template = try OpenJobTemplate(job, folder: "/farm/jobs")
        #expect(template.text == Self.example)
        #expect(template.missing.map(\.name) == ["Config"])
        #expect(
            template.runCommand("jobs/template.yaml")
                == "openjd run jobs/template.yaml -p Config=/etc/penumbra/farm.yaml")
    }

    @Test func `a template of unknown place says nothing of paths`() throws {
        let template = try OpenJobTemplate(.make(), folder: nil)
        #expect(template.missing.map(\.name) == ["Manifest", "Inputs", "Outputs", "RunDir"])
        #expect(
            template.runCommand("template.yaml") == """
                openjd run template.yaml -p Manifest=/farm/jobs/photos.yaml -p Inputs=/farm/jobs/photos \
                -p Outputs=/farm/jobs/out -p RunDir=/farm/jobs/out/.penumbra-openjd-photos
                """)
        let parameters = try parameters(of: template)
        #expect(parameters["Manifest"]?["default"] == nil)
        #expect(parameters["Shards"]?["default"] as? Int == 24)
    }

    @Test func `a folder that is the template's own is a dot`() throws {
        var job = ExportedJob.make()
        job.folders = ["/farm/jobs"]
        let template = try OpenJobTemplate(job, folder: "/farm/jobs")
        #expect(try parameters(of: template)["Inputs"]?["default"] as? String == ".")
        #expect(template.missing.isEmpty)
    }

    @Test func `several folders have numbers`() throws {
        var job = ExportedJob.make()
        job.folders = ["/a", "/b"]
        job.overrides = ["tile=256", "shard=tile"]
        let template = try OpenJobTemplate(job, folder: "/farm/jobs")
        let names = try parameters(of: template).keys.sorted()
        #expect(
            names == [
                "Inputs1", "Inputs2", "Manifest", "Outputs", "Program", "RunDir", "Set1", "Set2", "Shards", "Workers",
            ])
        #expect(template.text.contains("            - \"--set\"\n            - \"{{Param.Set1}}\"\n"))
        #expect(template.runCommand("t.yaml") == "openjd run t.yaml -p Inputs1=/a -p Inputs2=/b")
    }

    /// In a template's texts, though not in the values of parameters, two braces begin a reference.
    @Test(arguments: ["{{Param.Nothing}}", "it's \"so\" $HOME `id`", "a: b #c", "é 🌘", "-x=y", "%s{stem}"])
    func `names that mean something elsewhere are values of parameters alone`(name: String) throws {
        var job = ExportedJob.make(
            manifest: "/farm/jobs/\(name).yaml", program: "/opt/\(name)/penumbra", runFolder: "/run/\(name)")
        job.overrides = ["output=\(name)"]
        job.folders = ["/farm/jobs/\(name)"]
        let template = try OpenJobTemplate(job, folder: "/farm/jobs")
        let parameters = try parameters(of: template)
        #expect(parameters["Manifest"]?["default"] as? String == "\(name).yaml")
        #expect(parameters["Inputs"]?["default"] as? String == name)
        #expect(parameters["Program"]?["default"] as? String == "/opt/\(name)/penumbra")
        #expect(parameters["Set"]?["default"] as? String == "output=\(name)")
        #expect(template.missing.map(\.value) == ["/run/\(name)"])
        let steps = template.text.components(separatedBy: "\nsteps:\n").last ?? ""
        #expect(!steps.contains(name))
    }

    @Test func `a job that a template cannot hold is refused`() throws {
        func problem(_ change: (inout ExportedJob) -> Void) -> String? {
            var job = ExportedJob.make()
            change(&job)
            return ExportsTests.problem { try OpenJobTemplate(job, folder: nil) }
        }
        #expect(
            problem { $0.folders = ["/a\nb"] }
                == #"'/a\u{a}b': a template's parameter cannot hold a control character; rename what it names"#)
        #expect(
            problem { $0.overrides = ["a=\u{1B}[2J"] }
                == #"'a=\u{1b}[2J': a template's parameter cannot hold a control character; rename what it names"#)
        let long = "/" + String(repeating: "a", count: 1024)
        #expect(problem { $0.folders = [String(long.dropLast())] } == nil)
        #expect(
            problem { $0.folders = [long] } == """
                '\(long.prefix(40))…': a template's parameter has at most 1024 characters; put it under a shorter path, or \
                into the manifest
                """)
        #expect(problem { $0.folders = (1...44).map { "/\($0)" } } == nil)
        #expect(
            problem { $0.folders = (1...45).map { "/\($0)" } } == """
                the job needs 51 parameters, and a template has at most 50; name fewer folders in 'inputs', and write what \
                --set changes into the manifest
                """)
    }

    @Test(arguments: [(0.0, 3600), (180, 3600), (1000, 20000), (1e9, 1_728_000)])
    func `a shard's limit is far from what its longest task takes`(seconds: Double, limit: Int) throws {
        let template = try OpenJobTemplate(.make(longestTask: seconds), folder: nil)
        let render = template.text.components(separatedBy: "- name: Render").last?
            .components(separatedBy: "- name: Stitch").first
        #expect(render?.contains("timeout: \(limit)\n") == true)
    }

    private func parameters(of template: OpenJobTemplate) throws -> [String: [String: Any]] {
        let read = try #require(try Yams.load(yaml: template.text) as? [String: Any])
        let definitions = try #require(read["parameterDefinitions"] as? [[String: Any]])
        return Dictionary(uniqueKeysWithValues: definitions.map { ($0["name"] as? String ?? "", $0) })
    }

    private static let example = """
        specificationVersion: jobtemplate-2023-09
        name: photos
        description: Filters pictures as the manifest says. Prepare cuts the work into shards, Render does them, Stitch does \
        what they have left undone, joins tiles, verifies and publishes.
        parameterDefinitions:
          - name: Manifest
            type: PATH
            objectType: FILE
            dataFlow: IN
            description: The job's manifest.
            default: photos.yaml
          - name: Config
            type: PATH
            objectType: FILE
            dataFlow: IN
            description: Penumbra's config file.
          - name: Set
            type: STRING
            description: Changes a value of the manifest, as 'penumbra run --set' does.
            default: "filters[0].gaussian.radius=14"
          - name: Inputs
            type: PATH
            objectType: DIRECTORY
            dataFlow: IN
            description: "A folder with inputs. The manifest names it: said here so that the farm knows of it."
            default: photos
          - name: Picture
            type: PATH
            objectType: FILE
            dataFlow: IN
            description: "A picture that the job reads. The manifest names it: said here so that the farm knows of it."
            default: mask.png
          - name: Outputs
            type: PATH
            objectType: DIRECTORY
            dataFlow: OUT
            description: "A folder with outputs. The manifest names it: said here so that the farm knows of it."
            default: out
          - name: RunDir
            type: PATH
            objectType: DIRECTORY
            dataFlow: INOUT
            description: What the steps share, in a folder that all machines see under the same path.
            default: out/.penumbra-openjd-photos
          - name: Shards
            type: INT
            description: Parts that the work is cut into.
            minValue: 1
            maxValue: 1024
            default: 24
          - name: Workers
            type: INT
            description: Worker processes of a machine.
            minValue: 1
            maxValue: 1024
            default: 8
          - name: Program
            type: STRING
            description: "Penumbra on the farm's machines: a path, or a name that they look up."
            default: /opt/penumbra/penumbra
        steps:
          - name: Prepare
            hostRequirements:
              amounts:
                - name: amount.worker.vcpu
                  min: 8
                - name: amount.worker.memory
                  min: 6656
              attributes:
                - name: attr.worker.os.family
                  anyOf:
                    - linux
                - name: attr.worker.cpu.arch
                  anyOf:
                    - x86_64
            script:
              actions:
                onRun:
                  command: "{{Param.Program}}"
                  args:
                    - prepare
                    - "{{Param.Manifest}}"
                    - "--run-dir"
                    - "{{Param.RunDir}}"
                    - "--shards"
                    - "{{Param.Shards}}"
                    - "--workers"
                    - "{{Param.Workers}}"
                    - "--config"
                    - "{{Param.Config}}"
                    - "--set"
                    - "{{Param.Set}}"
                  timeout: 21600
                  cancelation:
                    mode: NOTIFY_THEN_TERMINATE
                    notifyPeriodInSeconds: 30
          - name: Render
            dependencies:
              - dependsOn: Prepare
            parameterSpace:
              taskParameterDefinitions:
                - name: Shard
                  type: INT
                  range: "1-{{Param.Shards}}"
            hostRequirements:
              amounts:
                - name: amount.worker.vcpu
                  min: 8
                - name: amount.worker.memory
                  min: 6656
              attributes:
                - name: attr.worker.os.family
                  anyOf:
                    - linux
                - name: attr.worker.cpu.arch
                  anyOf:
                    - x86_64
            script:
              actions:
                onRun:
                  command: "{{Param.Program}}"
                  args:
                    - shard
                    - "--run-dir"
                    - "{{Param.RunDir}}"
                    - "--index"
                    - "{{Task.Param.Shard}}"
                    - "--workers"
                    - "{{Param.Workers}}"
                    - "--openjd"
                  timeout: 3600
                  cancelation:
                    mode: NOTIFY_THEN_TERMINATE
                    notifyPeriodInSeconds: 30
          - name: Stitch
            dependencies:
              - dependsOn: Render
            hostRequirements:
              amounts:
                - name: amount.worker.vcpu
                  min: 8
                - name: amount.worker.memory
                  min: 6656
              attributes:
                - name: attr.worker.os.family
                  anyOf:
                    - linux
                - name: attr.worker.cpu.arch
                  anyOf:
                    - x86_64
            script:
              actions:
                onRun:
                  command: "{{Param.Program}}"
                  args:
                    - resume
                    - "--run-dir"
                    - "{{Param.RunDir}}"
                    - "--engine"
                    - local
                    - "--openjd"
                  timeout: 86400
                  cancelation:
                    mode: NOTIFY_THEN_TERMINATE
                    notifyPeriodInSeconds: 60

        """
}
