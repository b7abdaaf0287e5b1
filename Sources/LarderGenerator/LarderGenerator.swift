// Swift types for the types of a service, generated from its model.
//
// 0. Options/    what is generated and how; errors.
// 1. Selection/  the types that are generated, by patterns for their names.
// 2. Naming/     Swift names for the names of the service.
// 3. Plan/       what is generated for each type; no Swift text yet.
// 4. Writing/    the Swift text of each file.

internal import LarderOData

/// A generated file.
package struct GeneratedFile: Sendable, Hashable {
  /// The name of the file.
  package let name: String
  /// The content of the file.
  package let text: String
}

/// The files that are generated from a model, and what they leave out.
package struct GeneratedFiles: Sendable, Hashable {
  /// The files in the order of their names.
  package let files: [GeneratedFile]
  /// The parts of the model without a Swift form, in the order of their names.
  package let omissions: [Omission]
}
