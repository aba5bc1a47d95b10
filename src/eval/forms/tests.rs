//! Each form is read as it is meant, and what is wrong in it is named by file, line and field.

use super::*;
