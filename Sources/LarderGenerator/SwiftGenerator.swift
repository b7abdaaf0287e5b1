package import LarderOData

/// Generates Swift types from the model of a service. The same model and options always give the same bytes.
package enum SwiftGenerator {
  /// Generates the files.
  package static func generate(
    _ model: EdmModel, options: GeneratorOptions
  ) throws(GeneratorError) -> GeneratedFiles {
    try options.checkPrefix()
    var planner = try Planner(model, options: options)
    let plan = planner.plan()
    let definitions = Dictionary(
      plan.definitions.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
    let access = options.access
    var files = FileList(options)
    for structure in plan.structures {
      let usesFoundation = structure.members.contains {
        ["Data", "UUID"].contains(definitions[$0.type] ?? $0.type)
      }
      // The compiler counts no conformances of package types.
      let isEmpty =
        structure.isEntity && structure.key.isEmpty && structure.members.isEmpty && !structure.isOpen
      files.add(
        structure.name, StructureWriter.write(structure, access: access), usesFoundation: usesFoundation,
        exposesModule: access == .public || !isEmpty)
    }
    for enumeration in plan.enumerations {
      files.add(
        enumeration.name, OtherWriters.write(enumeration, access: access), exposesModule: access == .public)
    }
    if !plan.definitions.isEmpty {
      let usesFoundation = plan.definitions.contains { ["Data", "UUID"].contains($0.type) }
      files.add(
        options.prefix + "TypeDefinitions", OtherWriters.write(plan.definitions, access: access),
        usesFoundation: usesFoundation, exposesModule: plan.definitions.contains { $0.type.hasPrefix("OData") })
    }
    func usesFoundation(_ operations: [OperationPlan]) -> Bool {
      let used = operations.flatMap { $0.parameters.map(\.type) + [$0.result ?? ""] }.map { type in
        let item = type.hasPrefix("[") ? String(type.dropFirst().dropLast()) : type
        return definitions[item] ?? item
      }
      return used.contains("Data") || used.contains("UUID")
    }
    for service in plan.services {
      files.add(
        service.name, OtherWriters.write(service, access: access), usesFoundation: usesFoundation(service.operations),
        module: "LarderService")
    }
    if !plan.operations.isEmpty {
      files.add(
        options.prefix + "Operations", OperationWriter.write(plan.operations, access: access),
        usesFoundation: usesFoundation(plan.operations), module: "LarderService")
    }
    return GeneratedFiles(files: files.files.sorted { $0.name < $1.name }, omissions: plan.omissions)
  }
}

/// Files with names that also differ on a disk that ignores case.
private struct FileList {
  private(set) var files: [GeneratedFile] = []
  private let options: GeneratorOptions
  private var names = NameTable()

  init(_ options: GeneratorOptions) { self.options = options }

  /// Adds a file. `exposesModule`: whether its declarations have types of the module; else the compiler warns of an
  /// import with an access level.
  mutating func add(
    _ name: String, _ content: String, usesFoundation: Bool = false, module: String = "LarderOData",
    exposesModule: Bool = true
  ) {
    let stem = FileList.shortened(name)
    // Full case folding, as disks do it: one of the two alone keeps `ß` and `ς`.
    let folded = stem.uppercased().lowercased()
    let taken = names.take([folded])
    let fileName = stem + taken.dropFirst(folded.count) + FileHeader.fileEnding
    let imports = FileHeader.imports(
      options.access, usesFoundation: usesFoundation, module: module, exposesModule: exposesModule)
    files.append(GeneratedFile(name: fileName, text: FileHeader.text(options) + imports + content))
  }

  /// The name, or for a long one its beginning with a hash of the whole name: disks allow 255 bytes, and a file is
  /// written under a longer name first.
  private static func shortened(_ name: String) -> String {
    let limit = 200 - FileHeader.fileEnding.utf8.count
    guard name.utf8.count > limit else { return name }
    let end = "_" + String(StableHash.of(name), radix: 16)
    var stem = name
    while stem.utf8.count + end.utf8.count > limit { stem.removeLast() }
    return stem + end
  }
}
