/// What is generated from a model, and how.
package struct GeneratorOptions: Sendable, Hashable {
  /// Who can use the generated types.
  package enum Access: String, Sendable, Hashable, CaseIterable {
    /// Any module.
    case `public`
    /// The package.
    case package
    /// The module.
    case `internal`
  }

  /// Who can use the generated types.
  package var access: Access
  /// What the name of each generated type begins with.
  package var prefix: String
  /// Patterns for the entity sets and types to generate, with everything that they refer to; empty for all.
  package var only: [NamePattern]
  /// Patterns for types and entity sets that are left out, with the members that refer to them.
  package var except: [NamePattern]
  /// The name of the metadata document, for the first lines of the files.
  package var documentName: String

  /// Creates options.
  package init(
    access: Access = .internal, prefix: String = "", only: [NamePattern] = [], except: [NamePattern] = [],
    documentName: String
  ) {
    self.access = access
    self.prefix = prefix
    self.only = only
    self.except = except
    self.documentName = documentName
  }
}

extension GeneratorOptions {
  /// Throws an error if the prefix cannot begin the name of a type.
  package func checkPrefix() throws(GeneratorError) {
    guard prefix.isEmpty || SwiftIdentifier.wholeType(prefix) == prefix else { throw .invalidPrefix(prefix) }
  }
}

/// Why nothing can be generated.
package enum GeneratorError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A pattern matches no type and no entity set of the model.
  case unmatchedPattern(String)
  /// The prefix cannot begin the name of a type.
  case invalidPrefix(String)
  /// Nothing of the model is left.
  case nothingSelected
  /// A file `larder-generate.json` cannot be used; the text says why.
  case invalidConfiguration(String)

  /// What is wrong and what to do.
  package var description: String {
    switch self {
    case .unmatchedPattern(let pattern): "No type and no entity set matches '\(pattern)'"
    case .invalidPrefix(let prefix):
      "'\(prefix)' cannot begin the name of a type: use a capital letter, then letters and digits"
    case .invalidConfiguration(let reason): "larder-generate.json cannot be used: \(reason)"
    case .nothingSelected:
      "The model has no types to generate, or all of them are left out: check that the document is the service's "
        + "$metadata, and the patterns"
    }
  }
}
