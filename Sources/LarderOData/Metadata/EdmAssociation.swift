/// V1 to V3: a relationship between two entity types ([MC-CSDL] §2.1.9).
package struct EdmAssociation: EdmAnnotatable, EdmElement, Hashable {
  /// The schema's namespace.
  package var namespace: String
  /// The name in the schema.
  package var name: String
  /// The ends; two in a valid document.
  package var ends: [EdmAssociationEnd] = []
  /// The properties of one end that repeat those of the other.
  package var referentialConstraint: EdmAssociationConstraint?
  /// The annotations written inside the element.
  package var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an association.
  package init(namespace: String, name: String) {
    self.namespace = namespace
    self.name = name
  }

  /// The name with its namespace.
  package var qualifiedName: String { EdmSchema.qualify(name, in: namespace) }

  /// The end with a role; nil if there is none.
  package func end(_ role: String) -> EdmAssociationEnd? { ends.first { $0.role == role } }
}

/// One end of an association.
package struct EdmAssociationEnd: EdmAnnotatable, EdmElement, Hashable {
  /// The name that distinguishes the ends; the type's short name if the document has none.
  package var role: String
  /// The qualified name of the entity type.
  package var type: String
  /// The number of entities at this end.
  package var multiplicity: EdmMultiplicity
  /// What happens at the other end when an entity here is deleted.
  package var onDelete: EdmOnDelete?
  /// The annotations written inside the element.
  package var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an end.
  package init(role: String, type: String, multiplicity: EdmMultiplicity) {
    self.role = role
    self.type = type
    self.multiplicity = multiplicity
  }
}

/// V1 to V3: the referential constraint of an association; properties pair up by position.
package struct EdmAssociationConstraint: EdmAnnotatable, EdmElement, Hashable {
  /// The role whose properties are repeated.
  package var principalRole: String
  /// The properties that are repeated.
  package var principalProperties: [String]
  /// The role that repeats them.
  package var dependentRole: String
  /// The properties that repeat them.
  package var dependentProperties: [String]
  /// The annotations written inside the element.
  package var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a constraint.
  package init(
    principalRole: String, principalProperties: [String], dependentRole: String, dependentProperties: [String]
  ) {
    self.principalRole = principalRole
    self.principalProperties = principalProperties
    self.dependentRole = dependentRole
    self.dependentProperties = dependentProperties
  }
}

/// V1 to V3: an association between two entity sets.
package struct EdmAssociationSet: EdmAnnotatable, EdmElement, Hashable {
  /// The name in the container.
  package var name: String
  /// The association's qualified name.
  package var association: String
  /// Role and entity set of each end.
  package var ends: [EdmAssociationSetEnd] = []
  /// The annotations written inside the element.
  package var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an association set.
  package init(name: String, association: String) {
    self.name = name
    self.association = association
  }
}

/// One end of an association set.
package struct EdmAssociationSetEnd: EdmAnnotatable, EdmElement, Hashable {
  /// The association's role; empty if it follows from the set's type.
  package var role: String
  /// The entity set's name.
  package var entitySet: String
  /// The annotations written inside the element.
  package var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an end.
  package init(role: String, entitySet: String) {
    self.role = role
    self.entitySet = entitySet
  }
}
