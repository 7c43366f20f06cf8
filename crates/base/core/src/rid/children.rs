//! Resource ids of the children of databases and users.
//!
//! ```text
//! user                    database 4, number 4 big-endian, its top bit clear
//! permission              user 8, ordinal 8 little-endian
//! client encryption key   database 4, zero 4, number 4 little-endian, 2 as 4 little-endian
//! ```

use super::{CONTAINER_BIT, DatabaseRid, InvalidRid, decode, encode};
use std::fmt;

/// A user's number in the account, with its database's. Not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserRid {
    pub database: DatabaseRid,
    number: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PermissionRid {
    pub user: UserRid,
    pub ordinal: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientKeyRid {
    pub database: DatabaseRid,
    pub number: u32,
}

/// The marker that distinguishes a client encryption key from other children of a database.
const CLIENT_KEY: u32 = 2;

impl UserRid {
    pub fn new(database: DatabaseRid, number: u32) -> Self {
        assert!(number > 0 && number < CONTAINER_BIT, "a user's number has 31 bits and is not zero");
        Self { database, number }
    }

    pub fn number(self) -> u32 {
        self.number
    }

    pub fn parse(text: &str) -> Result<Self, InvalidRid> {
        Self::from_bytes(decode(text)?).ok_or_else(|| InvalidRid(text.to_owned()))
    }

    fn from_bytes(bytes: [u8; 8]) -> Option<Self> {
        let whole = u64::from_be_bytes(bytes);
        let number = whole as u32;
        let is_user = number > 0 && number < CONTAINER_BIT;
        is_user.then_some(Self { database: DatabaseRid((whole >> 32) as u32), number })
    }

    fn to_bytes(self) -> [u8; 8] {
        (u64::from(self.database.0) << 32 | u64::from(self.number)).to_be_bytes()
    }
}

impl PermissionRid {
    pub fn parse(text: &str) -> Result<Self, InvalidRid> {
        let bytes: [u8; 16] = decode(text)?;
        let (user, ordinal) = halves(bytes);
        let user = UserRid::from_bytes(user).ok_or_else(|| InvalidRid(text.to_owned()))?;
        Ok(Self { user, ordinal: u64::from_le_bytes(ordinal) })
    }
}

impl ClientKeyRid {
    pub fn parse(text: &str) -> Result<Self, InvalidRid> {
        let (owner, own) = halves(decode(text)?);
        let (owner, own) = (u64::from_be_bytes(owner), u64::from_le_bytes(own));
        if owner as u32 != 0 || (own >> 32) as u32 != CLIENT_KEY {
            return Err(InvalidRid(text.to_owned()));
        }
        Ok(Self { database: DatabaseRid((owner >> 32) as u32), number: own as u32 })
    }
}

fn halves(bytes: [u8; 16]) -> ([u8; 8], [u8; 8]) {
    let whole = u128::from_be_bytes(bytes);
    (((whole >> 64) as u64).to_be_bytes(), (whole as u64).to_be_bytes())
}

impl fmt::Display for UserRid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        encode(&self.to_bytes(), f)
    }
}

impl fmt::Display for PermissionRid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        encode(&[self.user.to_bytes(), self.ordinal.to_le_bytes()].concat(), f)
    }
}

impl fmt::Display for ClientKeyRid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = u64::from(self.database.0) << 32;
        let own = u64::from(CLIENT_KEY) << 32 | u64::from(self.number);
        encode(&[owner.to_be_bytes(), own.to_le_bytes()].concat(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rids_have_the_services_shapes() {
        let user = UserRid::new(DatabaseRid(0x4000_1001), 0x0102);
        assert_eq!(user.to_string(), "QAAQAQAAAQI=");
        assert_eq!(PermissionRid { user, ordinal: 1 }.to_string(), "QAAQAQAAAQIBAAAAAAAAAA==");
        let key = ClientKeyRid { database: user.database, number: 1 };
        assert_eq!(key.to_string(), "QAAQAQAAAAABAAAAAgAAAA==");
    }

    #[test]
    fn a_rid_has_only_one_kind() {
        let user = UserRid::new(DatabaseRid(7), 8);
        let container = super::super::ContainerRid::new(DatabaseRid(7), 8);
        assert!(UserRid::parse(&container.to_string()).is_err());
        assert!(super::super::ContainerRid::parse(&user.to_string()).is_err());
        let permission = PermissionRid { user, ordinal: 2 << 32 | 1 }.to_string();
        assert!(ClientKeyRid::parse(&permission).is_err());
        assert!(super::super::ItemRid::parse(&permission).is_err());
        assert!(
            PermissionRid::parse(&ClientKeyRid { database: DatabaseRid(7), number: 1 }.to_string()).is_err()
        );
    }

    proptest! {
        #[test]
        fn parse_undoes_display(database: u32, number in 1..CONTAINER_BIT, ordinal: u64) {
            let user = UserRid::new(DatabaseRid(database), number);
            prop_assert_eq!(UserRid::parse(&user.to_string()), Ok(user));
            let permission = PermissionRid { user, ordinal };
            prop_assert_eq!(PermissionRid::parse(&permission.to_string()), Ok(permission));
            let key = ClientKeyRid { database: DatabaseRid(database), number };
            prop_assert_eq!(ClientKeyRid::parse(&key.to_string()), Ok(key));
        }
    }
}
