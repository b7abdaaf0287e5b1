/// V1 to V3: a relationship between two entity types ([MC-CSDL] §2.1.9).
public struct EdmAssociation: EdmAnnotatable, Hashable {
  /// The schema's namespace.
  public var namespace: String
  /// The name in the schema.
  public var name: String
  /// The ends; two in a sound document.
  public var ends: [EdmAssociationEnd] = []
  /// Which properties of one end repeat those of the other.
  public var referentialConstraint: EdmAssociationConstraint?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes an association.
  public init(namespace: String, name: String) {
    self.namespace = namespace
    self.name = name
  }

  /// The name with its namespace.
  public var qualifiedName: String { EdmSchema.qualify(name, in: namespace) }

  /// The end of a role; nil where there is none.
  public func end(_ role: String) -> EdmAssociationEnd? { ends.first { $0.role == role } }
}

/// One end of an association.
public struct EdmAssociationEnd: EdmAnnotatable, Hashable {
  /// The name that tells the ends apart; the type's short name where the document gives none.
  public var role: String
  /// The qualified name of the entity type.
  public var type: String
  /// How many entities stand here.
  public var multiplicity: EdmMultiplicity
  /// What happens at the other end when an entity here is deleted.
  public var onDelete: EdmOnDelete?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes an end.
  public init(role: String, type: String, multiplicity: EdmMultiplicity) {
    self.role = role
    self.type = type
    self.multiplicity = multiplicity
  }
}

/// V1 to V3: the referential constraint of an association; properties pair up by position.
public struct EdmAssociationConstraint: EdmAnnotatable, Hashable {
  /// The role whose properties are repeated.
  public var principalRole: String
  /// Those properties.
  public var principalProperties: [String]
  /// The role that repeats them.
  public var dependentRole: String
  /// The repeating properties.
  public var dependentProperties: [String]
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes a constraint.
  public init(
    principalRole: String, principalProperties: [String], dependentRole: String, dependentProperties: [String]
  ) {
    self.principalRole = principalRole
    self.principalProperties = principalProperties
    self.dependentRole = dependentRole
    self.dependentProperties = dependentProperties
  }
}

/// V1 to V3: an association between two entity sets.
public struct EdmAssociationSet: EdmAnnotatable, Hashable {
  /// The name in the container.
  public var name: String
  /// The association's qualified name.
  public var association: String
  /// Role and entity set of each end.
  public var ends: [EdmAssociationSetEnd] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes an association set.
  public init(name: String, association: String) {
    self.name = name
    self.association = association
  }
}

/// One end of an association set.
public struct EdmAssociationSetEnd: EdmAnnotatable, Hashable {
  /// The association's role; empty where the document leaves it to the set's type.
  public var role: String
  /// The entity set's name.
  public var entitySet: String
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes an end.
  public init(role: String, entitySet: String) {
    self.role = role
    self.entitySet = entitySet
  }
}
