/// A navigation property (CSDL 4.01 §8). One of V1 to V3 is resolved through its association and has the same content.
public struct EdmNavigationProperty: EdmAnnotatable, EdmElement, Hashable {
  /// The name, unique in the type.
  public var name: String
  /// The entity type, or a collection of it.
  public var type: EdmTypeReference
  /// Whether there may be no related entity; nil if the document does not say.
  package var nullable: Bool?
  /// The path of the navigation property that leads back.
  public var partner: String?
  /// Whether the related entities are contained in this one (CSDL 4.01 §8.4).
  public var containsTarget = false
  /// Properties of this type that repeat those of the related entity.
  package var referentialConstraints: [EdmReferentialConstraint] = []
  /// What happens to related entities when this one is deleted.
  package var onDelete: EdmOnDelete?
  /// V1 to V3: the association and the direction it is followed in.
  package var relationship: EdmRelationship?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a navigation property.
  package init(name: String, type: EdmTypeReference, nullable: Bool? = nil) {
    self.name = name
    self.type = type
    self.nullable = nullable
  }

  /// Whether the property leads to any number of entities.
  public var isCollection: Bool { type.isCollection }

  /// Whether the property may lead to no entity; true if the document does not say.
  public var isNullable: Bool { nullable ?? true }

  /// The number of entities that the property leads to.
  package var multiplicity: EdmMultiplicity {
    isCollection ? .many : isNullable ? .zeroOrOne : .one
  }
}

/// V1 to V3: the association of a navigation property, and its direction.
package struct EdmRelationship: Sendable, Hashable {
  /// The association's qualified name.
  package var association: String
  /// The end that the property starts from.
  package var fromRole: String
  /// The end that the property leads to.
  package var toRole: String

  /// Creates a relationship.
  package init(association: String, fromRole: String, toRole: String) {
    self.association = association
    self.fromRole = fromRole
    self.toRole = toRole
  }
}

/// The number of entities at an end of an association.
package enum EdmMultiplicity: String, Sendable, Hashable {
  /// At most one.
  case zeroOrOne = "0..1"
  /// Exactly one.
  case one = "1"
  /// Any number.
  case many = "*"
}

/// A property that has the value of a property of the related entity (CSDL 4.01 §8.5).
package struct EdmReferentialConstraint: EdmAnnotatable, EdmElement, Hashable {
  /// The path of the dependent property, in the type that declares the navigation property.
  package var property: String
  /// The path of the property of the related entity.
  package var referencedProperty: String
  /// The annotations written inside the element.
  package var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a constraint.
  package init(property: String, referencedProperty: String) {
    self.property = property
    self.referencedProperty = referencedProperty
  }
}

/// What happens to related entities on a deletion (CSDL 4.01 §8.6).
package struct EdmOnDelete: EdmAnnotatable, EdmElement, Hashable {
  /// `Cascade`, `None`, `SetNull`, `SetDefault`, or another word in the document.
  package var action: String
  /// The annotations written inside the element.
  package var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an action.
  package init(action: String) { self.action = action }
}
