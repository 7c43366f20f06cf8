//! An element that was read: its name, its text, its children.

use crate::error::StorageError;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    pub name: String,
    /// All text directly in it, in one piece.
    pub text: String,
    pub children: Vec<Element>,
}

impl Element {
    /// The first child of this name.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The text of the first child of this name.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.as_str())
    }

    /// The same, which must be there.
    pub fn required(&self, name: &str) -> Result<&str, StorageError> {
        self.text_of(name).ok_or_else(|| {
            StorageError::invalid_xml(format!("the element '{}' has no element '{name}'", self.name))
        })
    }

    /// It has this name.
    pub fn named(&self, name: &str) -> Result<(), StorageError> {
        if self.name == name {
            return Ok(());
        }
        Err(StorageError::invalid_xml(format!("the element '{}' stands where '{name}' belongs", self.name)))
    }

    /// All children have one of these names, and each of them at most one.
    pub fn only(&self, names: &[&str]) -> Result<(), StorageError> {
        for (at, child) in self.children.iter().enumerate() {
            if !names.contains(&child.name.as_str()) {
                let sentence = format!("the element '{}' has no place in '{}'", child.name, self.name);
                return Err(StorageError::invalid_xml(sentence));
            }
            if self.children[..at].iter().any(|earlier| earlier.name == child.name) {
                let sentence = format!("the element '{}' is in '{}' twice", child.name, self.name);
                return Err(StorageError::invalid_xml(sentence));
            }
        }
        Ok(())
    }
}
